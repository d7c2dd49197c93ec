"""What a rule of placement may decide."""


class Rule:
    """A rule of placement, asked before the era that it names. Inherit from it, or write a class with the same methods.

    `claim` and `steal` are asked about requests that found no block of their own type, with the heads of other types' free lists
    as offers, up to 32 of each list. `chore` is asked about each pageblock that is passed when pageblocks are tidied, ten times a second, for at
    most a twentieth of a CPU. Leave out what you do not decide: a method that is there is called, which takes microseconds each time.

    `claim(self, wanted, offers)` chooses the block whose pageblock becomes one of the wanted type as a whole, whatever else is in use
    there. Offers come the largest first. Returns an offer, None for what the era does, or "nothing".

    `steal(self, wanted, offers)` chooses the block of which a piece is taken although its pageblock keeps its type, if no pageblock
    was claimed. Offers come the smallest first. Returns as `claim`; after "nothing" the zone has no room for the request.

    `chore(self, pageblock)` returns None for what the era does, "nothing", "empty" to move its movable pages away, or the type that the
    pageblock gets: "Unmovable", "Movable" or "Reclaimable".

    wanted: order, migratetype, pageblock_pages. An offer: pfn, order, migratetype, and of its pageblock the pages that are free,
    movable, and those that are neither (stays). A pageblock: start, migratetype, pages, free, percpu, unmovable, movable, reclaimable, reserved.

    An object is made for each replay, so that what it remembers belongs to one replay. The zone is locked while `claim` and `steal` are asked.
    """

    #: The era that decides what the rule does not.
    era = "linux-7.3"
