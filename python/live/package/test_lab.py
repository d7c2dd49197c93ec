import os
import signal
import threading
import time

import pyarrow
import pytest
from conftest import untimed

import freehold


def test_compare_returns_the_results_of_the_lab(c_build, expected):
    result = freehold.compare(c_build, replicates=2)
    assert untimed(result.table.to_csv()) == expected("compare.csv")
    table = pyarrow.table(result)
    assert table.column_names == [
        "variant", "group", "measure", "unit", "value", "standard_deviation", "replays",
    ]
    assert "Changes by era (means of 2 replays" in repr(result)
    assert result.pictures["unusable index"].startswith("<svg") and "<svg" in result._repr_html_()
    assert len(result.data["eras"]) == 5 and "Eras" in result.tables


def test_eras_are_chosen_with_their_systems(c_build, expected):
    result = freehold.compare(c_build, eras=["linux-6.1", "linux-6.12 without hygiene"], replicates=2)
    assert untimed(result.table.to_csv()) == expected("variants.csv")


def test_replay_returns_the_results_of_the_lab(c_build, expected):
    result = freehold.replay(c_build, era="linux-6.12", remembered_mode=False, watermark_boost_factor=0)
    assert untimed(result.table.to_csv()) == expected("replay.csv")


def test_analyze_returns_the_results_of_the_lab(c_build, expected):
    assert untimed(freehold.Trace(c_build).analyze().table.to_csv()) == expected("analyze.csv")


def test_predict_returns_the_results_of_the_lab(traces, expected):
    recordings = [traces / name for name in ("file-churn.arrows", "file-churn-2.arrows")]
    result = freehold.predict(recordings, replicates=2, watermark_boost_factor=0)
    assert untimed(result.table.to_csv()) == expected("predict.csv")
    assert "watermark_boost_factor=0 instead of 15000" in repr(result)


def test_sweep_returns_the_results_of_the_lab(traces, expected):
    recordings = [traces / name for name in ("database.arrows", "forks.arrows")]
    result = freehold.sweep(recordings, replicates=2, counts=[True, False], watermark_boost_factor=[0, 15000])
    rows = untimed(result.table.to_csv())
    own = expected("sweep.csv")
    # The lab had other paths.
    trace = rows[0].index("trace")
    for row in rows[1:] + own[1:]:
        row[trace] = row[trace].rsplit("/", 1)[-1]
    assert rows == own and len(rows) == 9


def test_rows_of_an_unreadable_trace_have_an_error(traces, tmp_path):
    result = freehold.sweep([tmp_path / "nothing.arrows", traces / "database.arrows"], replicates=1)
    errors = result.table.to_dict()["error"]
    assert "cannot be opened" in errors[0] and errors[1] is None
    with pytest.raises(freehold.InputError, match="none of 1 runs succeeded"):
        freehold.sweep(tmp_path / "nothing.arrows")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda trace: freehold.replay(trace, era="linux-2.6"), '"linux-2.6" is no value of era, which has linux-6.1'),
        (lambda trace: freehold.replay(trace, swappiness=1), '"swappiness" cannot be varied; the settings are era'),
        (lambda trace: freehold.replay(trace, counts="maybe"), '"maybe" is no value of counts, which has on, off'),
        (lambda trace: freehold.replay(trace, pageblock_order=12), "pageblock order 12 on a machine whose largest"),
        (lambda trace: freehold.sweep(trace, counts=["on", True]), "counts has the value on twice"),
        (lambda trace: freehold.sweep(trace, counts=[]), "counts has no value"),
        (lambda trace: freehold.compare(trace, eras=["linux-7.3 with x"]), "the systems and rules are hygiene"),
        (lambda trace: freehold.compare(trace, eras=[]), "no era is named"),
        (lambda trace: freehold.compare(trace, replicates=1000), "replicates is 1 to 64 replays, not 1000"),
        (lambda trace: freehold.predict(trace), "no change is given, so there is nothing to predict"),
        (lambda trace: freehold.predict([trace, trace], defrag_mode=1), "the same recording as"),
    ],
)
def test_wrong_arguments_have_one_clear_error(c_build, wrong, sentence):
    with pytest.raises(freehold.InputError) as raised:
        wrong(c_build)
    assert sentence in str(raised.value)
    assert isinstance(raised.value, freehold.Error)


def test_other_threads_run_while_a_replay_does(c_build):
    trace = freehold.Trace(c_build)
    turns, done = 0, threading.Event()

    def count():
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    began = time.monotonic()
    freehold.replay(trace)
    took = time.monotonic() - began
    done.set()
    other.join()
    # If the replay did not release the GIL, there would be one or two turns.
    assert turns > 10 * took


def test_progress_is_reported(c_build):
    reported = []
    freehold.compare(c_build, replicates=1, progress=lambda followed, planned: reported.append((followed, planned)))
    assert reported == sorted(reported)
    followed, planned = reported[-1]
    # One replay to find untraced allocations, one for each of five eras, one for the proactive baseline.
    assert followed == planned and planned in (6 * 1_759_004, 7 * 1_759_004)
    with pytest.raises(ZeroDivisionError):
        freehold.compare(c_build, replicates=1, progress=lambda followed, planned: 1 // 0)


def test_ctrl_c_ends_a_comparison(c_build):
    # Background processes of a script ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    trace = freehold.Trace(c_build)
    began = time.monotonic()
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        freehold.compare(trace, replicates=64)
    # The whole comparison would take minutes.
    assert time.monotonic() - began < 10
    assert freehold.replay(trace).table.column_names[0] == "variant"


def test_tables_need_no_other_library():
    settings = freehold.settings()
    assert "watermark_boost_factor" in settings.to_dict()["setting"]
    assert len(settings) == len(settings.to_dict()["meaning"])
    assert settings.to_csv().startswith("setting,unit,values,meaning\r\n")
    assert "<table>" in settings._repr_html_() and "defrag_mode" in repr(settings)
    assert freehold.eras()[0] == "linux-6.1"
    array = pyarrow.record_batch(settings)
    assert array.num_rows == len(settings)
