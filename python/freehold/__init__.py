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
    Offer,
    Pageblock,
    Result,
    Table,
    FallbackRequest,
    __version__,
    eras,
    settings,
)
from ._chart import chart
from ._lab import Trace, compare, predict, replay, sweep
from ._rule import Rule

__all__ = [
    "AllocError",
    "BlockError",
    "BugError",
    "Error",
    "Events",
    "FreeError",
    "InputError",
    "Memory",
    "Offer",
    "Pageblock",
    "Result",
    "Rule",
    "Table",
    "Trace",
    "FallbackRequest",
    "__version__",
    "chart",
    "compare",
    "eras",
    "predict",
    "replay",
    "settings",
    "sweep",
]
