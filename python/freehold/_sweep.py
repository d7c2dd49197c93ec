"""A sweep in shards: one after the other on this machine, or in parallel on Ray."""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import tempfile

from . import _dataset, _freehold
from ._progress import shown


@dataclasses.dataclass(frozen=True)
class Sweep:
    """The arguments of a sweep: traces by name, and settings with their values."""

    traces: tuple
    settings: dict
    replicates: int

    def arguments(self, runs_a_shard):
        """The arguments in the form that a dataset stores."""
        return {
            "freehold": _freehold.__version__,
            "replicates": self.replicates,
            "runs_a_shard": runs_a_shard,
            "settings": {name: [str(value) for value in values] for name, values in self.settings.items()},
            "traces": [[trace, *_size_and_time(trace)] for trace in self.traces],
        }

    def shards(self, runs_a_shard):
        """The shards in order. A shard has some runs of one trace."""
        runs = _freehold.runs_of_a_trace(len(self.traces), self.settings)
        for number, trace in enumerate(self.traces):
            for first in range(number * runs, (number + 1) * runs, runs_a_shard):
                last = min(first + runs_a_shard, (number + 1) * runs)
                yield Shard(trace, tuple(range(first, last)), self)


@dataclasses.dataclass(frozen=True)
class Shard:
    """Some runs of one trace."""

    trace: str
    runs: tuple
    sweep: Sweep

    @property
    def file(self):
        return _dataset.file_of(self.trace, self.runs[0])

    def done(self, threads=None):
        """Does the runs. Returns their rows, and whether to keep the rows.

        An error of the trace or of a run is in the column `error` of its rows, which are kept. If the trace could not
        be copied to this machine, its rows have an error but are not kept, so that the same sweep tries again.
        """
        try:
            path = _here(self.trace)
        except Exception as error:  # Each store has its own exceptions.
            return self.failed(f"{self.trace}: the trace cannot be copied to a worker: {error!r}"), False
        opened = _opened(self.trace, path)
        runs, replicates = list(self.runs), self.sweep.replicates
        return _freehold.sweep_shard(opened, runs, replicates, threads, None, self.sweep.settings), True

    def failed(self, why):
        """Rows with an error instead of measures."""
        return _freehold.failed_rows(self.trace, list(self.runs), why, self.sweep.settings)


def _size_and_time(trace):
    """The size and time of a trace file, which distinguish it from another file of the same name; None if unknown."""
    try:
        if "://" in trace:
            import fsspec

            store, path = fsspec.core.url_to_fs(trace)
            info = store.info(path)
            return info.get("size"), str(info.get("mtime") or info.get("LastModified") or info.get("ETag"))
        found = os.stat(trace)
        return found.st_size, found.st_mtime_ns
    except Exception:  # Reading the trace later gives rows with this error.
        return None, None


def memory_bytes(trace):
    """An upper bound of a worker's memory for a shard, from the sizes of the trace file and of its machine.

    docs/guide/python.md compares the bound with the use.
    """
    size, _ = _size_and_time(trace)
    with tempfile.TemporaryDirectory(prefix="freehold-") as folder:
        try:
            head = trace if "://" not in trace else _copied(trace, folder, 1 << 20)
            zones = _freehold.Trace(head, partial=True).machine["zones"]
            pages = sum(zone["spanned"] for zone in zones)
        except Exception:  # Reading the trace later gives rows with this error.
            pages = 0
    # A replay accepts no larger machine.
    return (128 << 20) + 16 * (size or 0) + 32 * min(pages, 1 << 27)


def _copied(trace, folder, most=None):
    """Copies a trace, or its first bytes, into a folder and returns the path."""
    import fsspec

    path = pathlib.Path(folder) / "trace.arrows"
    with fsspec.open(trace, "rb") as source, open(path, "wb") as copy:
        if most is None:
            shutil.copyfileobj(source, copy, 1 << 20)
        else:
            copy.write(source.read(most))
    return str(path)


def _here(trace):
    """The path of a trace on this machine: its own path, or that of a copy made by fsspec."""
    if "://" not in trace:
        return trace
    # Each process has one copy, of its current trace.
    if _kept.get("copied") != trace:
        _forget()
        _kept["folder"] = tempfile.mkdtemp(prefix="freehold-")
        try:
            _kept["path"] = _copied(trace, _kept["folder"])
        except BaseException:
            _forget()
            raise
        _kept["copied"] = trace
    return _kept["path"]


# The cache of a process for its next shard, which usually has the same trace.
_kept = {}


def _forget():
    if "folder" in _kept:
        shutil.rmtree(_kept["folder"], ignore_errors=True)
    _kept.clear()


def _opened(name, path):
    opened = _kept.get("opened")
    if opened is None or opened.path != name:
        opened = _kept["opened"] = _freehold.Trace.unopened(path, name=name)
    return opened


def run(sweep, *, into, on, address, runs_a_shard, threads, progress):
    """Does a sweep in shards and returns all rows."""
    shards = list(sweep.shards(max(runs_a_shard, 1)))
    dataset = None if into is None else _dataset.Dataset(into)
    rows = []
    if runs_a_shard < 1:
        raise _freehold.InputError(f"a shard has at least one run, not {runs_a_shard}")
    with shown(progress, "sweep", "runs") as report, _claimed(dataset, sweep.arguments(runs_a_shard)):
        missing = []
        for shard in shards:
            found = None if dataset is None else dataset.rows(shard)
            if found is None:
                missing.append(shard)
            else:
                rows += found
        done = sum(len(shard.runs) for shard in shards) - sum(len(shard.runs) for shard in missing)
        everything = sum(len(shard.runs) for shard in shards)
        for shard, finished, keep in _finished(missing, on, address, threads):
            if dataset is not None and keep:
                dataset.write(shard, finished)
            rows += finished
            done += len(shard.runs)
            if report is not None:
                report(done, everything)
    _forget()
    return _freehold.sweep_result(rows)


def _claimed(dataset, arguments):
    return contextlib.nullcontext() if dataset is None else dataset.claimed(arguments)


def _finished(shards, on, address, threads):
    """Yields each finished shard with its rows, and whether to keep the rows."""
    if on is None:
        for shard in shards:
            yield (shard, *shard.done(threads))
    elif on == "ray":
        from . import _ray

        yield from _ray.finished(shards, address)
    else:
        raise _freehold.InputError(f'a sweep runs here, or on="ray", not on={on!r}')
