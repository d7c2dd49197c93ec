"""The functions of the lab, with traces by path and settings by name."""

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
    """A recorded trace: the work of a machine's page allocator between two moments.

    `Trace(path)` opens the file and checks its header. With `partial=True`, uses the readable part of a trace that
    ends in the middle of a record. Events are read on demand.
    """

    __slots__ = ()

    def analyze(self, *, progress=None):
        """Analyses the requests of the trace, without a replay."""
        with shown(progress, "analyze") as report:
            return _freehold.analyze(self, report)


def compare(trace, *, eras=None, rules=(), replicates=None, threads=None, progress=None):
    """Replays a trace in every era of the allocator and compares the eras.

    `eras` selects eras, optionally with systems or rules, such as "linux-7.3 with counts". `rules` are classes with
    your own placement rules; each is one more column. `help(freehold.Rule)` describes them. `replicates` is the
    number of replays of each era with jittered daemon wake-ups, which measure the noise. The default is 3 to 8, fewer
    for longer traces.
    """
    with shown(progress, "compare") as report:
        return _freehold.compare(_trace(trace), eras, list(rules), replicates, threads, report)


def replay(trace, *, replicates=1, threads=None, progress=None, **settings):
    """Replays a trace on the recorded machine with some settings, such as era="linux-6.12" or defrag_mode=1.

    The default era is the one nearest to the recorded kernel. `freehold.settings()` lists the settings.
    """
    with shown(progress, "replay") as report:
        return _freehold.replay(_trace(trace), replicates, threads, report, settings)


def predict(traces, *, against=(), replicates=4, page_move_ns=None, threads=None, progress=None, **settings):
    """Predicts each measure under another setting, from recordings under one setting.

    With `against`, compares the prediction with recordings of the same work under the change.
    """
    with shown(progress, "predict") as report:
        return _freehold.predict(
            _traces(traces), _traces(against), replicates, page_move_ns, threads, report, settings
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
    """Replays traces with every combination of settings. A setting has one value or a list. Each run is a row.

    An error of a trace or of a run is in the column `error` and does not end the sweep.

    `into` is a folder for a Parquet dataset that is partitioned by trace. Each shard of a few runs is written when it
    is finished, and the same sweep continues from there. `on="ray"` does the shards on a Ray cluster, at `address` or
    on this machine; traces and `into` may then be URLs that fsspec supports.
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
    with shown(progress, "sweep") as report:
        return _freehold.sweep(_traces(traces, _freehold.Trace.unopened), replicates, threads, report, settings)
