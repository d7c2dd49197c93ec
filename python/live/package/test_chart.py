import sys

import altair
import pandas
import polars
import pyarrow
import pytest

import freehold


@pytest.fixture(scope="module")
def comparison(c_build):
    return freehold.compare(c_build, eras=["linux-6.1", "linux-7.3"], replicates=3)


@pytest.fixture(scope="module")
def swept(small):
    return freehold.sweep(small[:2], replicates=2, era=["linux-6.1", "linux-7.3"], watermark_boost_factor=[0, 15000])


def drawn(chart):
    """The rows of a chart, after a check by Altair against the schema of Vega-Lite."""
    return chart.to_dict()["data"]["values"]


def spread(mean, deviation):
    return pytest.approx((mean, mean - (deviation or 0), mean + (deviation or 0)))


def test_comparison_charts_have_means_and_standard_deviations(comparison):
    rows = [row for row in pyarrow.table(comparison).to_pylist() if row["group"] == "replicates" and row["value"] is not None]
    assert any(row["standard_deviation"] for row in rows)
    for row in rows:
        bars = {bar["name"]: bar for bar in drawn(freehold.chart(comparison, row["measure"]))}
        bar = bars[row["variant"]]
        assert (bar["value"], bar["low"], bar["high"]) == spread(row["value"], row["standard_deviation"])


def test_an_axis_shows_the_unit_once(comparison):
    def title(measure):
        return freehold.chart(comparison, measure).to_dict()["layer"][0]["encoding"]["x"]["title"]

    assert title("largest drain") == "largest drain, pages"
    assert title("free pageblocks at the end") == "free pageblocks at the end"


def test_measures_of_a_single_replay_are_drawn(comparison):
    rows = [row for row in pyarrow.table(comparison).to_pylist() if row["measure"] == "refills"]
    assert {row["name"]: row["value"] for row in drawn(freehold.chart(comparison, "refills"))} == {row["variant"]: row["value"] for row in rows}


def test_the_usual_measures_are_drawn_where_none_is_named(comparison):
    assert len(freehold.chart(comparison).to_dict()["vconcat"]) == 4


def test_a_prediction_shows_before_and_after(small):
    prediction = freehold.predict(small[:2], watermark_boost_factor=0, replicates=2)
    rows = [row for row in pyarrow.table(prediction).to_pylist() if row["predicted"] is not None]
    assert any(row["predicted_sd"] for row in rows) and any(row["before_sd"] for row in rows)
    for row in rows:
        bars = {bar["name"]: bar for bar in drawn(freehold.chart(prediction, row["measure"]))}
        assert list(bars) == ["before", "predicted"]
        for name, bar in bars.items():
            assert (bar["value"], bar["low"], bar["high"]) == spread(row[name], row[f"{name}_sd"])


def test_a_sweep_in_every_form_of_table(swept):
    table = pyarrow.table(swept)
    chart = freehold.chart(swept, "zone lock holds").to_dict()
    columns = table.select(["era", "watermark_boost_factor", "replicates_zone_lock_holds_mean", "replicates_zone_lock_holds_standard_deviation"])
    expected = [(*row[:2], row[2] - row[3], row[2] + row[3]) for row in zip(*columns.to_pydict().values())]
    assert [(row["era"], row["watermark_boost_factor"], row["low"], row["high"]) for row in chart["data"]["values"]] == expected
    assert (chart["facet"]["column"]["field"], len(expected)) == ("trace", 8)
    encoding = chart["spec"]["layer"][0]["encoding"]
    assert (encoding["x"]["field"], encoding["color"]["field"]) == ("era", "watermark_boost_factor")
    for other in (swept.table, table, polars.DataFrame(table), pandas.DataFrame.from_arrow(table)):
        assert freehold.chart(other, "zone lock holds").to_dict()["data"] == chart["data"]
    turned = freehold.chart(swept, "zone_lock_holds", x="watermark_boost_factor", color="era").to_dict()
    assert [row["value"] for row in turned["data"]["values"]] == table["zone_lock_holds"].to_pylist()
    assert turned["spec"]["layer"][0]["encoding"]["x"]["field"] == "watermark_boost_factor"


def test_rows_without_a_measure_are_left_out(swept):
    table = pyarrow.table(swept).to_pandas()
    table.loc[2, "zone_lock_holds"] = None
    assert len(drawn(freehold.chart(table, "zone_lock_holds"))) == 7


def test_replicate_measures_have_the_same_names_in_a_sweep(comparison, swept):
    columns = swept.table.to_dict()
    rows = [row for row in pyarrow.table(comparison).to_pylist() if row["group"] == "replicates"]
    measures = {row["measure"] for row in rows}
    means = {name for name in columns if name.startswith("replicates_") and name.endswith("_mean")}
    assert len(measures) == len(means) > 10
    for measure in measures:
        values = [row["value"] for row in drawn(freehold.chart(swept, measure))]
        means -= {name for name in means if columns[name] == values}
    assert not means


def test_traces_of_one_name_stay_apart(small, tmp_path):
    traces = []
    for number, trace in enumerate(small[:2]):
        (tmp_path / str(number)).mkdir()
        traces.append(tmp_path / str(number) / "t.arrows")
        traces[-1].write_bytes(trace.read_bytes())
    chart = freehold.chart(freehold.sweep(traces, replicates=1, counts=[True, False]), "zone lock holds").to_dict()
    assert chart["facet"]["column"]["field"] == "trace"
    assert {row["trace"] for row in chart["data"]["values"]} == {str(trace) for trace in traces}


def test_failed_runs_raise_a_warning(small, tmp_path):
    damaged = tmp_path / "damaged.arrows"
    damaged.write_bytes(small[0].read_bytes()[:-1000])
    result = freehold.sweep([small[0], damaged], replicates=1, counts=[True, False])
    with pytest.warns(UserWarning, match="2 of 4 runs failed and are not drawn: .*damaged.arrows"):
        assert len(drawn(freehold.chart(result, "zone lock holds"))) == 2


def test_charts_that_cannot_be_drawn_raise_errors(comparison, swept, small):
    for words, draw in [
        ("'steel' is no measure of this result, which has all orders, ", lambda: freehold.chart(comparison, "steel")),
        ("'steal' is no measure of this result, which has steals", lambda: freehold.chart(comparison, "steal")),
        ("'speeds' is no setting of this sweep, in which vary: era, watermark_boost_factor", lambda: freehold.chart(swept, x="speeds")),
        ("x and color are of sweeps", lambda: freehold.chart(comparison, x="era")),
        ("no setting varies", lambda: freehold.chart(pyarrow.table(swept).slice(0, 1))),
        ("not int", lambda: freehold.chart(3)),
        ("named by a text, not by list", lambda: freehold.chart(comparison, ["steals"])),
        ("named by a text, not by list", lambda: freehold.chart(swept, x=["era"])),
        ("'era' is no measure", lambda: freehold.chart(swept, "era")),
        ("'trace' is no measure", lambda: freehold.chart(swept, "trace")),
        ("'failures' is no measure of this result, which has failures_all_orders, ", lambda: freehold.chart(swept, "failures")),
        ("'largest drain' is no measure of this result, which has per_cpu_lists_largest_drain_pages", lambda: freehold.chart(swept, "largest drain")),
        ("lacks the column 'trace'", lambda: freehold.chart(pyarrow.table(swept).drop(["trace"]))),
        ("lacks the column 'group'", lambda: freehold.chart(pyarrow.table(comparison).drop(["group"]))),
        ("is there twice of linux-6.1", lambda: freehold.chart(pyarrow.concat_tables([pyarrow.table(comparison)] * 2), "steals")),
        ("only a comparison", lambda: freehold.chart(freehold.Trace(small[0]).analyze())),
    ]:
        with pytest.raises(freehold.InputError) as raised:
            draw()
        assert words in str(raised.value)


def test_missing_altair_names_the_command_to_install_it(comparison, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ImportError, match=r"pip install \"freehold\[charts\]\""):
        freehold.chart(comparison)
    assert altair
