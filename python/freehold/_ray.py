"""Shards as Ray tasks."""

import functools
import os
import socket

from . import _freehold
from ._sweep import memory_bytes

# The number of attempts for a shard whose worker dies.
_TRIES = 3


def finished(shards, address):
    """Yields each finished shard with its rows, and whether to keep the rows.

    If a worker dies, its shard is tried again. After the last attempt, its rows have an error and are not kept, so that
    the same sweep tries them again later.
    """
    import ray

    if not shards:
        return
    started = not ray.is_initialized()
    if started:
        _connect(ray, address)
    try:
        yield from _of_tasks(ray, shards)
    finally:
        if started:
            ray.shutdown()


def _connect(ray, address):
    try:
        _knock(address)
        ray.init(address=address, log_to_driver=False, logging_level="warning")
    except (OSError, RuntimeError, ValueError) as error:
        where = address or os.environ.get("RAY_ADDRESS") or "this machine"
        raise _freehold.Error(f"Ray cannot be reached at {where}; check the address: {error}") from error


def _knock(address):
    """Fails at once if no server listens, because Ray would try for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def _of_tasks(ray, shards):
    largest = max((node["Resources"].get("memory", 0) for node in ray.nodes() if node["Alive"]), default=0)
    needed = functools.cache(memory_bytes)
    # Each task reserves one processor and the memory for its trace, so that no node is overloaded.
    task = ray.remote(num_cpus=1, max_retries=_TRIES - 1, scheduling_strategy="SPREAD")(_done)
    waiting = iter(shards)
    at_work, too_large = {}, []

    def start():
        for shard in waiting:
            if needed(shard.trace) > largest:
                too_large.append(shard)
                continue
            name = f"freehold {os.path.basename(shard.trace)} runs {shard.runs[0]}-{shard.runs[-1]}"
            options = task.options(name=name, memory=needed(shard.trace))
            at_work[options.remote(shard)] = shard
            return

    try:
        # Enough tasks to keep all processors busy.
        for _ in range(max(16, 4 * int(ray.cluster_resources().get("CPU", 1)))):
            start()
        while at_work:
            [ready], _ = ray.wait(list(at_work), num_returns=1)
            shard = at_work.pop(ready)
            start()
            yield (shard, *_outcome(ray, shard, ready))
        for shard in too_large:
            mib = needed(shard.trace) >> 20
            why = f"{shard.trace}: needs up to {mib} MiB of memory, and no node of the cluster has as much"
            yield shard, shard.failed(why), False
    finally:
        for task_at_work in at_work:
            ray.cancel(task_at_work, force=True)


def _outcome(ray, shard, ready):
    try:
        return ray.get(ready)
    except ray.exceptions.RayTaskError as error:
        return shard.failed(f"{shard.trace}: {error.cause}"), False
    except ray.exceptions.RayError as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        return shard.failed(f"{shard.trace}: its worker died {_TRIES} times: {first}"), False


def _done(shard):
    return shard.done(threads=1)
