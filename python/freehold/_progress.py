"""Progress of replays: a bar of tqdm, or a function of the caller."""

import contextlib
import sys
import warnings


@contextlib.contextmanager
def shown(progress, what, unit="events"):
    """Yields a function that the lab calls with the done and the planned events (or other units); None for no progress.

    `progress` is a function of these two numbers, True for a bar, or False for none. With None, shows a bar if tqdm is
    installed and the session is interactive.
    """
    if callable(progress):
        yield progress
        return
    bar = _bar(progress, what, unit)
    if bar is None:
        yield None
        return

    def report(done, planned):
        bar.total = planned
        bar.update(done - bar.n)

    with bar:
        yield report


def _bar(progress, what, unit):
    if progress is False or (progress is None and not _is_interactive()):
        return None
    try:
        with warnings.catch_warnings():
            # A notebook without widgets gets a text bar.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise
        return None
    return tqdm(desc=what, unit=f" {unit}", unit_scale=True, leave=False)


def _is_interactive():
    return hasattr(sys, "ps1") or "ipykernel" in sys.modules or sys.stderr.isatty()
