import threading
import time

import pytest
from conftest import untimed

import freehold


class UsedFirst(freehold.Rule):
    """The rule claims-used-first of Freehold, written from its documentation."""

    era = "freehold without claims-used-first"

    def claim(self, wanted, offers):
        pages = wanted.pageblock_pages
        for offer in offers:
            if 1 << offer.order >= pages:
                continue
            if wanted.migratetype == "Movable":
                alike = offer.movable
            else:
                alike = offer.immovable if offer.migratetype == "Movable" else 0
                if alike and offer.free >= pages // 8:
                    return offer
            if offer.free + alike >= pages // 2:
                return offer
        return None


def measures(result, variant):
    """The measures of a variant by name, without values that depend on the machine."""
    header, *rows = untimed(result.table.to_csv())
    at = header.index("variant")
    return [row[:at] + row[at + 1 :] for row in rows if row[at] == variant]


def test_a_python_rule_places_pages_like_the_era_with_that_rule(traces):
    eras = ["freehold", "freehold without claims-used-first"]
    result = freehold.compare(traces / "file-churn-3.arrows", eras=eras, rules=[UsedFirst], replicates=1)
    by_era, without, by_rule = (measures(result, name) for name in [*eras, f"{UsedFirst.era} with UsedFirst"])
    assert by_era and by_era == by_rule
    assert by_era != without, "the trace never needs the rule"


def test_rules_and_eras_are_in_one_table(traces):
    class Nothing:
        name = "never-claims"

        def claim(self, wanted, offers):
            assert offers == sorted(offers, key=lambda offer: -offer.order)
            return "nothing"

    result = freehold.compare(traces / "file-churn-3.arrows", rules=[Nothing], replicates=1)
    assert "linux-7.3 with never-claims" in repr(result)
    table = result.table.to_dict()
    claims = {
        variant: value
        for variant, measure, value in zip(table["variant"], table["measure"], table["value"], strict=True)
        if measure == "claims"
    }
    # A request that must not mix types claims free pageblocks, without a call of the rule.
    assert claims["linux-7.3"] > claims["linux-7.3 with never-claims"]
    assert len(set(table["variant"])) >= 6


def test_a_rule_gets_pageblocks_to_tidy(traces):
    seen = []

    class Watches:
        era = "linux-7.3"

        def chore(self, pageblock):
            in_use = (pageblock.unmovable, pageblock.movable, pageblock.reclaimable, pageblock.reserved)
            seen.append(pageblock.free + pageblock.percpu + sum(in_use) <= pageblock.pages)

    freehold.compare(traces / "file-churn-3.arrows", eras=["linux-7.3"], rules=[Watches], replicates=1)
    assert seen and all(seen)


def test_a_rule_can_retype_and_empty_pageblocks(traces):
    class Retypes:
        def chore(self, pageblock):
            immovable = pageblock.unmovable + pageblock.reserved
            return "Unmovable" if immovable > pageblock.pages // 2 else None

    class Empties:
        def chore(self, pageblock):
            is_sparse = 0 < pageblock.movable < pageblock.pages // 8 and not pageblock.unmovable
            return "empty" if is_sparse else "nothing"

    result = freehold.compare(traces / "file-churn-3.arrows", eras=["linux-7.3"], rules=[Retypes, Empties], replicates=1)
    eras = {era["variant"]: era for era in result.data}
    assert eras["linux-7.3"]["locked"]["retyped"] == 0 < eras["linux-7.3 with Retypes"]["locked"]["retyped"]
    moved = {name: era["events"]["pgmigrate_success"] for name, era in eras.items()}
    assert moved["linux-7.3 with Empties"] > moved["linux-7.3"]


def rule(claim):
    return type("Wrong", (), {"claim": claim, "era": "linux-7.3"})


def raises(self, wanted, offers):
    raise ZeroDivisionError("in a rule")


@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        (rule(lambda self, wanted, offers: 3), freehold.InputError, "the rule Wrong returned 3 from claim; it may return"),
        (rule(raises), ZeroDivisionError, "in a rule"),
        (rule(lambda self: None), TypeError, "positional argument"),
        (type("Wrong", (), {}), freehold.InputError, "has none of the methods claim, steal and chore"),
        (type("Wrong", (), {"steal": raises, "era": "linux-2.6"}), freehold.InputError, "the eras are linux-6.1"),
        (type("Wrong", (), {"claim": raises, "__init__": lambda self, more: None}), TypeError, "more"),
        (type("Wrong", (), {"chore": lambda self, pageblock: "CMA"}), freehold.InputError, "returned 'CMA' from chore"),
        (type("Wrong", (), {"claim": raises, "era": "linux-6.1"}), freehold.InputError, "would never be called"),
        (UsedFirst(), freehold.InputError, "a class is needed"),
    ],
)
def test_an_invalid_rule_ends_the_comparison_with_its_error(traces, wrong, error, sentence):
    with pytest.raises(error, match=sentence):
        freehold.compare(traces / "file-churn-3.arrows", eras=["linux-7.3"], rules=[wrong], replicates=4)


def test_a_rule_that_chooses_a_block_not_offered_is_refused(traces):
    class Late:
        def __init__(self):
            self.kept = None

        def claim(self, wanted, offers):
            self.kept = self.kept or offers[0]
            return self.kept

    with pytest.raises(freehold.InputError, match=r"the rule Late chose pfn 0x[0-9a-f]+, which it was not offered"):
        freehold.compare(traces / "file-churn-3.arrows", eras=["linux-7.3"], rules=[Late], replicates=1)


def test_a_comparison_with_a_slow_rule_is_interrupted(traces):
    called = threading.Event()

    class Slow:
        def claim(self, wanted, offers):
            called.set()
            time.sleep(0.05)

    def stop(followed, planned):
        if called.is_set():
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        freehold.compare(traces / "c-build.arrows", rules=[Slow], replicates=8, progress=stop)
    assert time.monotonic() - began < 60
