"""The Linux page allocator in a lab: replay what a machine did through every generation of it."""

from ._freehold import (
    AllocError,
    BlockError,
    BugError,
    Error,
    Events,
    FreeError,
    InputError,
    Memory,
    Result,
    Table,
    __version__,
    eras,
    settings,
)
from ._lab import Trace, compare, predict, replay, sweep

__all__ = [
    "AllocError",
    "BlockError",
    "BugError",
    "Error",
    "Events",
    "FreeError",
    "InputError",
    "Memory",
    "Result",
    "Table",
    "Trace",
    "__version__",
    "compare",
    "eras",
    "predict",
    "replay",
    "settings",
    "sweep",
]
