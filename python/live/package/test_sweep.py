import os
import signal
import subprocess
import sys
import time

import duckdb
import pytest
from conftest import untimed

import freehold
from freehold import _sweep

SETTINGS = {"counts": [True, False], "watermark_boost_factor": [0, 15000]}


def shards(folder):
    return sorted(folder.glob("trace=*/*.parquet"))


@pytest.fixture
def three(small, tmp_path):
    """Two good traces and a damaged one."""
    poisoned = tmp_path / "poisoned.arrows"
    poisoned.write_bytes(small[0].read_bytes()[:-1000])
    return [small[0], poisoned, small[1]]


def test_a_dataset_has_the_rows_of_the_sweep(three, tmp_path):
    into = tmp_path / "runs"
    plain = freehold.sweep(three, replicates=2, **SETTINGS)
    result = freehold.sweep(three, replicates=2, into=into, runs_a_shard=3, **SETTINGS)
    assert untimed(result.table.to_csv()) == untimed(plain.table.to_csv())
    assert len(shards(into)) == 6
    dataset = f"read_parquet('{into}/**/*.parquet', hive_partitioning=true, union_by_name=true)"
    rows = duckdb.sql(f"select trace, count(*), count(error), count(replicates_steals_mean) from {dataset} group by all").fetchall()
    assert sorted(rows) == sorted((str(trace), 4, *((4, 0) if "poisoned" in str(trace) else (0, 4))) for trace in three)


def test_finished_runs_are_not_repeated(three, tmp_path):
    into = tmp_path / "runs"
    first = freehold.sweep(three, replicates=1, into=into, runs_a_shard=1, **SETTINGS)
    kept = {path: path.stat().st_mtime_ns for path in shards(into)}
    missing, damaged = list(kept)[2], list(kept)[5]
    missing.unlink()
    damaged.write_bytes(damaged.read_bytes()[:-4])
    again = freehold.sweep(three, replicates=1, into=into, runs_a_shard=1, **SETTINGS)
    assert untimed(again.table.to_csv()) == untimed(first.table.to_csv())
    changed = {path for path in shards(into) if path.stat().st_mtime_ns != kept[path]}
    assert changed == {missing, damaged}


def test_a_dataset_refuses_another_sweep(three, tmp_path):
    into = tmp_path / "runs"
    freehold.sweep(three[0], replicates=1, into=into, **SETTINGS)
    with pytest.raises(freehold.InputError, match="is of a sweep with other traces, settings or another version"):
        freehold.sweep(three[0], replicates=2, into=into, **SETTINGS)
    dataset = _sweep._dataset.Dataset(into)
    with dataset._files.locked():
        with pytest.raises(freehold.InputError, match="another sweep works on"):
            freehold.sweep(three[0], replicates=1, into=into, **SETTINGS)


def test_finished_shards_survive_a_full_disk(small, tmp_path):
    into = tmp_path / "runs"
    arguments = f"import freehold; freehold.sweep({str(small[0])!r}, replicates=1, into={str(into)!r}, runs_a_shard=1, counts=[True, False])"
    subprocess.run([sys.executable, "-c", arguments], check=True)
    assert len(shards(into)) == 2
    shards(into)[1].unlink()
    # Files are limited to 4 KiB, like on a full disk.
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    full = subprocess.run([sys.executable, "-c", f"{limit}; {arguments}"], capture_output=True, text=True)
    assert "the finished shards are kept: make room and start the same sweep again" in full.stderr
    assert len(shards(into)) == 1 and not list(into.glob("trace=*/_*"))
    subprocess.run([sys.executable, "-c", arguments], check=True)
    assert len(shards(into)) == 2


def test_the_declared_memory_is_sufficient(c_build, small):
    for trace in (c_build, small[0]):
        program = f"""
import re
from freehold import _sweep
sweep = _sweep.Sweep(({str(trace)!r},), {{"counts": ["on"]}}, 2)
rows, kept = next(sweep.shards(4)).done(threads=1)
assert kept and '"error":null' in rows[0]
used = int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) << 10
declared = _sweep.memory_bytes({str(trace)!r})
# 128 MiB of it are for Python and Ray.
assert (declared - (128 << 20)) // 4 < used < declared, (used, declared)
"""
        subprocess.run([sys.executable, "-c", program], check=True)


def test_the_program_does_the_same_sweep(three, tmp_path):
    program = [os.path.join(os.path.dirname(sys.executable), "freehold-sweep")]
    into = tmp_path / "runs"
    vary = ["--vary", "counts=on,off", "--vary", "watermark_boost_factor=0,15000"]
    done = subprocess.run([*program, *three, *vary, "--into", into, "--replicates", "2"], capture_output=True, text=True)
    assert done.returncode == 5, done.stderr
    assert "4 of 12 runs failed" in done.stderr and "12 runs" in done.stdout
    result = freehold.sweep(three, replicates=2, into=into, **{name: list(values) for name, values in SETTINGS.items()})
    assert len(result) == 12
    wrong = subprocess.run([*program, *three, "--vary", "swappiness=1", "--into", into], capture_output=True, text=True)
    assert wrong.returncode == 2 and '"swappiness" cannot be varied' in wrong.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_finished_runs_survive_an_interruption(small, tmp_path, ending):
    into = tmp_path / "runs"
    program = os.path.join(os.path.dirname(sys.executable), "freehold-sweep")
    factors = ",".join(str(factor) for factor in range(0, 40_000, 1000))
    vary = ["--vary", f"watermark_boost_factor={factors}", "--runs-a-shard", "1", "--replicates", "2"]
    command = [program, small[0], *vary, "--into", into]
    begun = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while len(shards(into)) < 3 and begun.poll() is None:
        time.sleep(0.01)
    begun.send_signal(ending)
    said = begun.communicate()[1]
    if ending == signal.SIGINT:
        assert begun.returncode == 130 and "interrupted; finished runs are kept in" in said
    kept = {path: path.stat().st_mtime_ns for path in shards(into)}
    assert 3 <= len(kept) < 40
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(path.stat().st_mtime_ns == kept[path] for path in kept)
    plain = freehold.sweep(small[0], replicates=2, watermark_boost_factor=list(range(0, 40_000, 1000)))
    result = freehold.sweep(
        small[0], replicates=2, into=into, runs_a_shard=1, watermark_boost_factor=list(range(0, 40_000, 1000))
    )
    assert untimed(result.table.to_csv()) == untimed(plain.table.to_csv())


def test_a_damaged_file_of_arguments_is_named(small, tmp_path):
    into = tmp_path / "runs"
    freehold.sweep(small[0], replicates=1, into=into, counts=[True])
    (into / "_freehold.json").write_text("{")
    with pytest.raises(freehold.InputError, match="_freehold.json is damaged"):
        freehold.sweep(small[0], replicates=1, into=into, counts=[True])


def test_a_url_of_an_unknown_kind_is_an_error(small):
    with pytest.raises(freehold.InputError, match="foo://runs cannot be opened: "):
        freehold.sweep(small[0], replicates=1, into="foo://runs", counts=[True])
