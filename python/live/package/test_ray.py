import functools
import http.server
import os
import pathlib
import signal
import threading
import time

import pytest
from conftest import untimed

import freehold

ray = pytest.importorskip("ray", reason="Ray is not installed")
cluster_utils = pytest.importorskip("ray.cluster_utils")

# Four traces with as many runs each: 200 shards of one run.
SETTINGS = {"watermark_boost_factor": list(range(0, 50_000, 2000)), "counts": [True, False]}


@pytest.fixture(scope="module")
def store():
    """An S3 server on this machine, whose address and key are in the environment; None if it is not installed."""
    try:
        from moto.server import ThreadedMotoServer
        from s3fs import S3FileSystem
    except ImportError:
        yield None
        return
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "somebody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "a secret")
        yield S3FileSystem()
    server.stop()


@pytest.fixture
def bucket(store):
    if store is None:
        pytest.skip("moto or s3fs is not installed")
    store.mkdir("lab")
    return store


@pytest.fixture(scope="module")
def cluster(store):
    """Four nodes on this machine with one processor each, whose workers reach the store."""
    os.environ["RAY_AUTH_MODE"] = "disabled"
    node = {"num_cpus": 1, "object_store_memory": 80 << 20, "memory": 1 << 30, "include_dashboard": False}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=node)
    for _ in range(3):
        cluster.add_node(num_cpus=1, object_store_memory=80 << 20, memory=1 << 30)
    yield cluster
    cluster.shutdown()


def workers():
    """The processes that are working on a shard."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes().startswith(b"ray::freehold"):
                found.append(int(process.name))
        except OSError:
            pass
    return found


def test_a_killed_worker_does_not_change_the_rows(cluster, small, tmp_path):
    poisoned = tmp_path / "poisoned.arrows"
    poisoned.write_bytes(small[0].read_bytes()[:-1000])
    traces = [*small, poisoned]
    into = tmp_path / "runs"
    killed = []

    def kill():
        while len(list(into.glob("trace=*/*.parquet"))) < 40:
            time.sleep(0.05)
        while not killed:
            for pid in workers()[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    result = freehold.sweep(
        traces, replicates=1, on="ray", address=cluster.address, into=into, runs_a_shard=1, **SETTINGS
    )
    killer.join()
    assert len(killed) == 1
    assert len(result) == 200
    local = freehold.sweep(traces, replicates=1, **SETTINGS)
    assert untimed(result.table.to_csv()) == untimed(local.table.to_csv())
    errors = [error for error in result.table.to_dict()["error"] if error is not None]
    assert len(errors) == 50 and all("poisoned.arrows" in error for error in errors)
    assert len(list(into.glob("trace=*/*.parquet"))) == 200
    began = time.monotonic()
    again = freehold.sweep(traces, replicates=1, on="ray", address=cluster.address, into=into, runs_a_shard=1, **SETTINGS)
    assert untimed(again.table.to_csv()) == untimed(local.table.to_csv())
    assert time.monotonic() - began < 20


def test_traces_can_be_urls_of_fsspec(cluster, small, tmp_path):
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = functools.partial(quiet, directory=str(small[0].parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        traces = [url + small[0].name, url + "nothing.arrows"]
        into = f"file://{tmp_path}/runs"
        result = freehold.sweep(traces, replicates=1, on="ray", address=cluster.address, into=into, counts=[True, False])
        server.shutdown()
    plain = freehold.sweep(small[0], replicates=1, counts=[True, False])
    rows = result.table.to_dict()
    assert rows["replicates_steals_mean"][:2] == plain.table.to_dict()["replicates_steals_mean"]
    assert rows["error"][:2] == [None, None]
    assert all("the trace cannot be copied to a worker" in error for error in rows["error"][2:])
    # The same sweep tries again to copy the trace.
    assert len(list((tmp_path / "runs").glob("trace=*/*.parquet"))) == 1


def test_traces_and_rows_can_be_in_an_object_store(cluster, bucket, small):
    traces = []
    for trace in small[:2]:
        bucket.put(str(trace), f"lab/traces/{trace.name}")
        traces.append(f"s3://lab/traces/{trace.name}")
    sweep = functools.partial(
        freehold.sweep, replicates=1, on="ray", address=cluster.address, into="s3://lab/runs", runs_a_shard=1, counts=[True, False]
    )
    first = sweep(traces)
    written = {path: bucket.info(path)["LastModified"] for path in bucket.glob("lab/runs/trace=*/*.parquet")}
    assert len(written) == 4
    damaged = sorted(written)[1]
    # The store has a resolution of one second.
    time.sleep(1.1)
    bucket.pipe(damaged, bucket.cat(damaged)[:-4])
    time.sleep(1.1)
    touched = bucket.info(damaged, refresh=True)["LastModified"]
    again = sweep(traces)
    plain = untimed(freehold.sweep(small[:2], replicates=1, counts=[True, False]).table.to_csv())
    for result in (first, again):
        assert result.table.to_dict()["trace"] == [trace for trace in traces for _ in range(2)]
        assert untimed(result.table.to_csv().replace("s3://lab/traces", str(small[0].parent))) == plain
    times = {path: bucket.info(path, refresh=True)["LastModified"] for path in written}
    assert {path for path in written if times[path] != written[path]} == {damaged} and times[damaged] > touched
    # A missing bucket is an error, and is not created.
    for into in ("s3://labb/runs", "s3://labb", "s3://labb/"):
        with pytest.raises(freehold.Error, match="s3://labb.*_freehold.json cannot be written"):
            freehold.sweep(traces[:1], replicates=1, into=into, counts=[True])
    bucket.invalidate_cache()
    assert bucket.ls("") == ["lab"]


def test_a_trace_that_exceeds_the_memory_of_all_nodes_is_refused(cluster, small, monkeypatch):
    from freehold import _ray

    monkeypatch.setattr(_ray, "memory_bytes", lambda trace: (2 << 30) if trace == str(small[1]) else (200 << 20))
    result = freehold.sweep(small[:2], replicates=1, on="ray", address=cluster.address, counts=[True])
    errors = result.table.to_dict()["error"]
    assert errors[0] is None and "needs up to 2048 MiB of memory, and no node of the cluster has as much" in errors[1]


def test_wrong_places_have_one_clear_error(small):
    with pytest.raises(freehold.InputError, match='a sweep runs here, or on="ray", not on='):
        freehold.sweep(small[0], on="spark")
    with pytest.raises(freehold.Error, match="Ray cannot be reached at 127.0.0.1:1; check the address"):
        freehold.sweep(small[0], on="ray", address="127.0.0.1:1")
