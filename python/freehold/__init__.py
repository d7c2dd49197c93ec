"""The Linux page allocator in a lab: replay the work of a machine in every generation of the allocator."""

from ._freehold import (
    AllocError,
    BlockError,
    BugError,
    Error,
    Events,
    FallbackRequest,
    FreeError,
    InputError,
    Memory,
    Offer,
    Pageblock,
    Result,
    Table,
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
    "FallbackRequest",
    "FreeError",
    "InputError",
    "Memory",
    "Offer",
    "Pageblock",
    "Result",
    "Rule",
    "Table",
    "Trace",
    "__version__",
    "chart",
    "compare",
    "eras",
    "predict",
    "replay",
    "settings",
    "sweep",
]
