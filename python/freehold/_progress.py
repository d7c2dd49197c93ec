"""How far replays are: a bar of tqdm's, or whatever the caller does with two numbers."""

import contextlib
import sys
import warnings


@contextlib.contextmanager
def shown(progress, what, unit="events"):
    """Gives what the lab calls with the events, or other units, done and planned so far; None if nobody wants to know.

    `progress` is a function of these two numbers, True for a bar, False for none; None for a bar where tqdm is installed and
    somebody may be looking.
    """
    if callable(progress):
        yield progress
        return
    bar = _bar(progress, what, unit)
    if bar is None:
        yield None
        return

    def tell(done, planned):
        bar.total = planned
        bar.update(done - bar.n)

    with bar:
        yield tell


def _bar(progress, what, unit):
    if progress is False or (progress is None and not _somebody_looks()):
        return None
    try:
        with warnings.catch_warnings():
            # A notebook without widgets gets a bar of text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise
        return None
    return tqdm(desc=what, unit=f" {unit}", unit_scale=True, leave=False)


def _somebody_looks():
    return hasattr(sys, "ps1") or "ipykernel" in sys.modules or sys.stderr.isatty()
