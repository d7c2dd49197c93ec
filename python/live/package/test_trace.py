import duckdb
import pandas
import polars
import pyarrow
import pytest

import freehold


def test_arrow_libraries_accept_the_events(c_build):
    trace = freehold.Trace(c_build)
    counted = trace.info["summary"]["kinds"]
    events = trace.events()
    table = pyarrow.table(events)
    assert table.num_rows == trace.info["summary"]["events"] == 1_759_004
    kinds = {row["values"]: row["counts"] for row in table["kind"].value_counts().to_pylist()}
    assert (kinds["mm_page_alloc"], kinds["mm_page_free"]) == (counted["alloc"], counted["free"])
    assert kinds["mm_page_alloc_extfrag"] == counted["extfrag"]

    frame = polars.DataFrame(events)
    assert frame.height == table.num_rows
    assert frame["time_ns"].is_sorted()
    assert (frame["kind"].cast(polars.String) == "mm_page_free").sum() == counted["free"]
    sql = "select count(*), sum(2 ** \"order\") from events where kind = 'mm_page_alloc' and pfn is not null"
    [(blocks, pages)] = duckdb.sql(sql).fetchall()
    assert (blocks, pages) == (counted["alloc"], 852_825)
    assert len(pandas.DataFrame.from_arrow(events)) == table.num_rows
    # The number in docs/guide/python.md.
    assert round(table.nbytes / table.num_rows, 1) == 47.3


def test_the_machine_is_the_recorded_one(c_build):
    machine = freehold.Trace(c_build).machine
    assert machine["cpus"] == 2
    assert machine["page_bytes"] == 4096
    assert machine["pagetypeinfo"]["pageblock_order"] == 9
    assert "Normal" in [zone["name"] for zone in machine["zones"]]


def test_errors_have_the_messages_of_the_command_line(c_build, tmp_path):
    with pytest.raises(freehold.InputError, match="nothing.arrows: the trace cannot be opened; check the path"):
        freehold.Trace(tmp_path / "nothing.arrows")
    cut = tmp_path / "cut.arrows"
    cut.write_bytes(c_build.read_bytes()[:-100_000])
    with pytest.raises(freehold.InputError, match="the file stops inside record batch"):
        freehold.Trace(cut).info
    with pytest.raises(Exception, match="the file stops inside record batch"):
        pyarrow.table(freehold.Trace(cut).events())
    part = freehold.Trace(cut, partial=True)
    assert 1_000_000 < pyarrow.table(part.events()).num_rows < 1_759_004
    with pytest.warns(UserWarning, match="the recording was cut short"):
        freehold.replay(part)
    newer = tmp_path / "newer.arrows"
    newer.write_bytes(c_build.read_bytes().replace(b"freehold.version", b"freehold.virsion", 1))
    with pytest.raises(freehold.InputError, match="newer.arrows"):
        freehold.Trace(newer)
