"""The base class of placement rules."""


class Rule:
    """A placement rule, which decides before the era that it names. Inherit from it, or write a class with the same
    methods.

    A replay calls `claim` and `steal` for requests that found no block of their own type. The offers are the heads of
    other types' free lists, up to 32 of each list. A replay calls `chore` for pageblocks ten times in each second of
    the trace: for all of them, until the budget for background moves (a twentieth of a CPU) is used up. A call takes
    about 10 microseconds for a chore, and more than that for each offer, so leave out methods that you do not need.
    Eras before linux-6.12 call no rule, and are refused.

    `claim(self, wanted, offers)` chooses a block. Its whole pageblock gets the requested type, with all pages in use
    in it. The largest offers come first. Returns an offer, None for the decision of the era, or "nothing".

    `steal(self, wanted, offers)` chooses a block if no pageblock was claimed. The request gets a part of it, and its
    pageblock keeps its type. The smallest offers come first. Returns the same as `claim`. After "nothing", the zone
    has no block for the request.

    `chore(self, pageblock)` returns None for the decision of the era, "nothing", "empty" to move the movable pages of
    the pageblock away, or a new type of the pageblock: "Unmovable", "Movable" or "Reclaimable".

    Attributes of `wanted`: order, migratetype, pageblock_pages. Attributes of an offer: pfn, order, migratetype, and
    the numbers of pages in its pageblock: free, movable (requested as movable; in linux-6.12 and linux-7.3, pages
    that can be moved) and immovable (all others). Attributes of a pageblock: start, migratetype, pages, free, percpu,
    the pages requested as unmovable, movable and reclaimable, reserved, and can_move (allocated pages that can be
    moved).

    Each replay creates its own object, so that the state of an object belongs to one replay. The zone is locked during
    calls of `claim` and `steal`.
    """

    #: The era that makes the decisions that the rule leaves open.
    era = "linux-7.3"
