"""The lab's functions, with traces by path and settings by name."""

import os

from . import _freehold, _sweep
from ._progress import shown


def _trace(trace):
    return trace if isinstance(trace, _freehold.Trace) else Trace(trace)


def _listed(traces):
    return [traces] if isinstance(traces, (_freehold.Trace, str, os.PathLike)) else list(traces)


def _traces(traces, opened=_trace):
    return [trace if isinstance(trace, _freehold.Trace) else opened(trace) for trace in _listed(traces)]


def _values(value):
    values = [value] if isinstance(value, (str, int)) else list(value)
    return [("on" if value else "off") if isinstance(value, bool) else str(value) for value in values]


class Trace(_freehold.Trace):
    """A recorded trace: what a machine's page allocator did between two moments.

    `Trace(path)` opens the file and checks its header. With `partial=True`, what is readable is used of a trace that ends in the
    middle of a record. The events are read when they are needed.
    """

    __slots__ = ()

    def analyze(self, *, progress=None):
        """Says what the trace asks of any allocator, without a replay."""
        with shown(progress, "analyze") as tell:
            return _freehold.analyze(self, tell)


def compare(trace, *, eras=None, rules=(), replicates=None, threads=None, progress=None):
    """Replays a trace through every era of the allocator, and says what each would change.

    `eras` names some eras instead, each with systems or rules, such as "linux-7.3 with counts". `rules` are classes with rules
    of placement of your own, each a further column; `help(freehold.Rule)` says what they may decide. `replicates` is the number of
    replays of each era that tell what is replicates: 3 to 8 where not given, fewer of longer traces.
    """
    with shown(progress, "compare") as tell:
        return _freehold.compare(_trace(trace), eras, list(rules), replicates, threads, tell)


def replay(trace, *, replicates=1, threads=None, progress=None, **settings):
    """Replays a trace on the recorded machine with some settings, such as era="linux-6.12", counts=True or defrag_mode=1.

    Without a setting for the era it is the one nearest to the recorded kernel. `freehold.settings()` lists the settings.
    """
    with shown(progress, "replay") as tell:
        return _freehold.replay(_trace(trace), replicates, threads, tell, settings)


def predict(traces, *, against=(), replicates=4, page_move_ns=None, threads=None, progress=None, **settings):
    """Foretells from recordings under one setting what each measure would be under another.

    With `against`, that is held against recordings of the same work under the change.
    """
    with shown(progress, "predict") as tell:
        return _freehold.predict(
            _traces(traces), _traces(against), replicates, page_move_ns, threads, tell, settings
        )


def sweep(
    traces,
    *,
    replicates=3,
    threads=None,
    progress=None,
    into=None,
    on=None,
    address=None,
    runs_a_shard=4,
    **settings,
):
    """Replays traces with every combination of settings, each with a value or a list of them; a row a run.

    An error of a trace or of a run is in the column `error` and does not end the sweep.

    `into` is a folder for a Parquet dataset that is partitioned by trace: each shard of a few runs is written as soon as it is
    finished, and the same sweep goes on from there. `on="ray"` does the shards on a Ray cluster, at `address` or on this machine;
    traces and `into` may then lie wherever fsspec reaches.
    """
    if into is not None or on is not None:
        names = tuple(trace.path if isinstance(trace, _freehold.Trace) else os.fspath(trace) for trace in _listed(traces))
        values = {name: _values(value) for name, value in settings.items()}
        return _sweep.run(
            _sweep.Sweep(names, values, replicates),
            into=into,
            on=on,
            address=address,
            runs_a_shard=runs_a_shard,
            threads=threads,
            progress=progress,
        )
    with shown(progress, "sweep") as tell:
        return _freehold.sweep(_traces(traces, _freehold.Trace.unopened), replicates, threads, tell, settings)
