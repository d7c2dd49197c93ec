"""What a rule of placement may decide."""


class Rule:
    """A rule of placement, arguments before the era that it names. Inherit from it, or write a class with the same methods.

    `claim` and `steal` are arguments about requests that found no block of their own type, with the heads of other types' free lists
    as offers, up to 32 of each list. `chore` is arguments about pageblocks ten times a second of the trace's time: about all of them, until as many
    pages were moved as a twentieth of a CPU can move. A method that is there is called, which takes some 10 microseconds for a chore and more than one for each offer, so leave
    out what you do not decide. Eras before linux-6.12 ask no rule, and are refused.

    `claim(self, wanted, offers)` chooses the block whose pageblock becomes one of the wanted type as a whole, whatever else is in use
    there. Offers come the largest first. Returns an offer, None for what the era does, or "nothing".

    `steal(self, wanted, offers)` chooses the block of which a piece is taken although its pageblock keeps its type, if no pageblock
    was claimed. Offers come the smallest first. Returns as `claim`; after "nothing" the zone has no room for the request.

    `chore(self, pageblock)` returns None for what the era does, "nothing", "empty" to move its movable pages away, or the type that the
    pageblock gets: "Unmovable", "Movable" or "Reclaimable".

    wanted: order, migratetype, pageblock_pages. An offer: pfn, order, migratetype, and of its pageblock the pages that are free, movable
    (arguments for as such, or in linux-6.12 and linux-7.3 those that can be moved), and neither (immovable). A pageblock: start, migratetype, pages, free, percpu,
    what was arguments for as unmovable, movable and reclaimable, reserved, and can_move, the allocated pages that can be moved.

    An object is made for each replay, so that what it remembers belongs to one replay. The zone is locked while `claim` and `steal` are arguments.
    """

    #: The era that decides what the rule does not.
    era = "linux-7.3"
