import csv
import os
import pathlib

import pytest

# Measures that depend on the replaying machine.
TIMED = ("longest hold,ns", "speed,million events/s", "zone_lock_longest_hold_ns", "replay_speed_million_events_s")


@pytest.fixture(scope="session")
def traces():
    """The folder of the repository's traces."""
    return pathlib.Path(os.environ["FREEHOLD_TRACES"])


@pytest.fixture(scope="session")
def c_build(traces):
    return traces / "c-build.arrows"


@pytest.fixture(scope="session")
def small():
    """Small generated traces."""
    return sorted(pathlib.Path(os.environ["FREEHOLD_EXPECTED"]).glob("small-*.arrows"))


@pytest.fixture(scope="session")
def expected():
    """The rows that the lab wrote, by file name."""
    folder = pathlib.Path(os.environ["FREEHOLD_EXPECTED"])
    return lambda name: untimed((folder / name).read_bytes().decode())


def untimed(text):
    """The rows of a CSV text, without values that depend on the testing machine."""
    rows = list(csv.reader(text.splitlines()))
    kept = [at for at, name in enumerate(rows[0]) if name not in TIMED]
    if "measure" in rows[0]:
        measure, unit = rows[0].index("measure"), rows[0].index("unit")
        rows = [row for row in rows if f"{row[measure]},{row[unit]}" not in TIMED]
    return [[row[at] for at in kept] for row in rows]
