from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any

__version__: str

_Path = str | PathLike[str]
_Trace = Trace | _Path
_Value = str | int | bool
_Progress = bool | Callable[[int, int], object] | None

class Error(Exception):
    """An error of Freehold, with its reason."""

class InputError(Error):
    """A trace or an argument that cannot be used."""

class BugError(Error):
    """A bug in Freehold: please report it."""

class AllocError(Error):
    """A failed request. The memory is unchanged."""

class FreeError(Error):
    """A failed free. The memory is unchanged."""

class BlockError(Error):
    """A failed isolation of a pageblock. The memory is unchanged."""

class Events:
    """The events of a trace as an Arrow table, for pyarrow, Polars, DuckDB and pandas."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Table:
    """An Arrow table, for pyarrow, Polars, DuckDB and pandas."""

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
    """A free block of another type than the requested one, with the contents of its pageblock."""

    pfn: int
    order: int
    migratetype: str
    free: int
    movable: int
    immovable: int

class Pageblock:
    """The contents of a pageblock, in pages."""

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
    """A placement rule, which decides before the era that it names."""

    era: str

class Memory:
    """The page allocator of one zone, without real memory."""

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
