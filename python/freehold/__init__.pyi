from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any

__version__: str

_Path = str | PathLike[str]
_Trace = Trace | _Path
_Value = str | int | bool
_Progress = bool | Callable[[int, int], object] | None

class Error(Exception):
    """What Freehold cannot do, and why."""

class InputError(Error):
    """A trace or an argument that cannot be used."""

class BugError(Error):
    """A bug in Freehold: please report it."""

class AllocError(Error):
    """A request that was not answered. Nothing has changed."""

class FreeError(Error):
    """A block that was not freed. Nothing has changed."""

class BlockError(Error):
    """A pageblock that was not isolated. Nothing has changed."""

class Events:
    """The events of a trace, which whoever knows Arrow takes as a table."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Table:
    """A table that whoever knows Arrow takes as it is."""

    column_names: list[str]
    def to_dict(self) -> dict[str, list[Any]]: ...
    def to_csv(self) -> str: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...

class Result:
    """An Arrow table of measures, with further tables, text, pictures and data."""

    table: Table
    tables: dict[str, Table]
    text: str
    pictures: dict[str, str]
    data: Any
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...

class Trace:
    """A recorded trace."""

    path: str
    info: dict[str, Any]
    machine: dict[str, Any]
    def __init__(self, path: _Path, *, partial: bool = False) -> None: ...
    def events(self) -> Events: ...
    def analyze(self, *, progress: _Progress = None) -> Result: ...

class FallbackRequest:
    """A request that found no block of its own type."""

    order: int
    migratetype: str
    pageblock_pages: int

class Offer:
    """A free block of another type than the wanted one, and what its pageblock holds."""

    pfn: int
    order: int
    migratetype: str
    free: int
    movable: int
    immovable: int

class Pageblock:
    """What a pageblock holds, in pages."""

    start: int
    migratetype: str | None
    pages: int
    free: int
    percpu: int
    unmovable: int
    movable: int
    reclaimable: int
    reserved: int
    can_move: int

class Rule:
    """A rule of placement, arguments before the era that it names."""

    era: str

class Memory:
    """One zone of memory as Linux's page allocator keeps it, without any memory behind it."""

    free_pages: int
    def __init__(
        self,
        pages: int = 8192,
        *,
        era: str = "linux-7.3",
        start: int = 0,
        cpus: int = 1,
        max_order: int = 10,
        pageblock_order: int = 9,
        as_linux: bool = False,
    ) -> None: ...
    def alloc(self, order: int = 0, migratetype: str = "Movable", *, cpu: int = 0) -> int: ...
    def free(self, pfn: int, order: int = 0, *, cpu: int = 0) -> None: ...
    def isolate(self, pfn: int) -> None: ...
    def unisolate(self, pfn: int) -> None: ...
    def drain(self) -> None: ...
    def counts(self) -> Table: ...
    def pageblocks(self) -> Table: ...
    def fallbacks(self) -> Table: ...
    def pagetypeinfo(self) -> str: ...
    def check(self) -> None: ...
    def picture(self) -> str: ...

def chart(
    what: object, *measures: str, x: str | None = None, color: str | None = None
) -> Any: ...
def compare(
    trace: _Trace,
    *,
    eras: Sequence[str] | None = None,
    rules: Iterable[Callable[[], object]] = (),
    replicates: int | None = None,
    threads: int | None = None,
    progress: _Progress = None,
) -> Result: ...
def replay(
    trace: _Trace,
    *,
    replicates: int = 1,
    threads: int | None = None,
    progress: _Progress = None,
    **settings: _Value,
) -> Result: ...
def predict(
    traces: _Trace | Iterable[_Trace],
    *,
    against: _Trace | Iterable[_Trace] = (),
    replicates: int = 4,
    page_move_ns: int | None = None,
    threads: int | None = None,
    progress: _Progress = None,
    **settings: _Value,
) -> Result: ...
def sweep(
    traces: _Trace | Iterable[_Trace],
    *,
    replicates: int = 3,
    threads: int | None = None,
    progress: _Progress = None,
    into: _Path | None = None,
    on: str | None = None,
    address: str | None = None,
    runs_a_shard: int = 4,
    **settings: _Value | Iterable[_Value],
) -> Result: ...
def eras() -> list[str]: ...
def settings() -> Table: ...
