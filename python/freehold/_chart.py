"""Charts of results, drawn by Altair."""

import collections
import pathlib
import re
import warnings

from . import _freehold

# The measures of a chart without named measures.
MEASURES = ("free pageblocks at the end", "mixed pageblocks at the end", "steals", "claims")

# The group of rows with means over replicates. A mean over several replays is more precise than one replay.
REPLICATES = "replicates"


def chart(what, *measures, x=None, color=None):
    """Draws measures of a result as an Altair chart, with standard deviations if there are several replays.

    `what` is a result of `compare`, `replay`, `predict` or `sweep`, its table, or rows of a sweep in a table of
    pyarrow, Polars, pandas or DuckDB. `measures` are names from the column `measure`. For a sweep, they are measures
    of the group `replicates`, or names of columns. Without names, draws four usual measures, if the result has them.
    Lines show one standard deviation to both sides of a mean: over replicates (replays with jittered daemon wake-ups)
    or, in a prediction, over recordings.

    In a sweep, `x` names the setting on the axis, and `color` the setting with a line for each value. The defaults
    are the first two settings that vary. A third setting that varies gets a row of charts for each value. Each trace
    gets a column.

    A notebook displays the chart; `chart.save("steals.html")` writes a page. Needs Altair: pip install
    "freehold[charts]".
    """
    altair = _altair()
    columns = _columns(what)
    for name in (*measures, *filter(None, (x, color))):
        if not isinstance(name, str):
            raise _freehold.InputError(f"a measure or a setting is named by a text, not by {type(name).__name__}")
    if "predicted" in columns:
        kind = _Prediction
    elif "variant" in columns:
        kind = _Comparison
    elif "run" in columns:
        kind = _Sweep
    else:
        raise _freehold.InputError("only a comparison, a replay, a prediction and a sweep have measures to draw")
    lacks = [name for name in kind.NEEDS if name not in columns]
    if lacks:
        raise _freehold.InputError(f"the table lacks the column {lacks[0]!r}, which a chart of it needs")
    if (x or color) and kind is not _Sweep:
        raise _freehold.InputError("x and color are of sweeps; this result has one chart for each measure")
    draw = kind(altair, columns, x, color) if kind is _Sweep else kind(altair, columns)
    charts = [draw.measure(name) for name in measures or [name for name in MEASURES if draw.has(name)]]
    if not charts:
        raise _freehold.InputError("none of the usual measures is in this result; name one")
    return charts[0] if len(charts) == 1 else altair.vconcat(*charts)


def _altair():
    try:
        import altair
    except ImportError as error:
        raise ImportError('freehold.chart needs Altair: pip install "freehold[charts]"') from error
    return altair


def _columns(what):
    """The columns of a table, as lists by their names."""
    what = what.table if isinstance(what, _freehold.Result) else what
    if isinstance(what, _freehold.Table):
        return what.to_dict()
    import narwhals

    try:
        table = narwhals.from_native(what)
    except TypeError as error:
        raise _freehold.InputError(f"a result or a table is drawn, not {type(what).__name__}") from error
    table = table.collect() if isinstance(table, narwhals.LazyFrame) else table
    # pandas has NaN where there is no value.
    return {name: [None if value != value else value for value in column] for name, column in table.to_dict(as_series=False).items()}


def _spread(mean, deviation):
    """A mean with the ends of its error bar."""
    deviation = deviation or 0.0
    return {"value": mean, "low": mean - deviation, "high": mean + deviation}


class _Bars:
    """One measure as bars, one for each name."""

    def __init__(self, altair):
        self.altair = altair

    def bars(self, measure, unit, rows, quiet=()):
        alt = self.altair
        title = f"{measure}, {unit}" if unit and unit not in measure else measure
        names = [row["name"] for row in rows]
        tooltip = ["name:N", alt.Tooltip("value:Q", title=title), "low:Q", "high:Q"]
        chart = alt.Chart(alt.Data(values=rows), width=360)
        names = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=320))
        kind = alt.condition(alt.FieldOneOfPredicate("name", list(quiet)), alt.value("#9a9a9a"), alt.value("#3b78b5"))
        bars = chart.mark_bar(height={"band": 0.7}).encode(x=alt.X("value:Q", title=title, axis=alt.Axis(tickCount=6)), y=names, color=kind, tooltip=tooltip)
        lines = chart.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", y=names)
        return alt.layer(bars, lines)


class _Comparison(_Bars):
    """Variants side by side, with the recorded machine."""

    NEEDS = ("variant", "group", "measure", "unit", "value", "standard_deviation")

    def __init__(self, altair, columns):
        super().__init__(altair)
        self.rows = [dict(zip(columns, row)) for row in zip(*columns.values())]

    def has(self, measure):
        return any(row["measure"] == measure for row in self.rows)

    def measure(self, measure):
        found = [row for row in self.rows if row["measure"] == measure and row["value"] is not None]
        _known(measure, self.has(measure), (row["measure"] for row in self.rows))
        if not found:
            raise _freehold.InputError(f"{measure!r} has no value in this result")
        groups = {row["group"] for row in found}
        group = REPLICATES if REPLICATES in groups else next(iter(sorted(groups)))
        if len(groups - {REPLICATES}) > 1 and group != REPLICATES:
            raise _freehold.InputError(f"{measure!r} is in {', '.join(sorted(groups))}: draw rows of one of them")
        rows = [row for row in found if row["group"] == group]
        # The rows of replicates may lack the machine, which then is in a row of its own.
        rows += [row for row in found if row["variant"] == "machine" and not any(had["variant"] == "machine" for had in rows)]
        twice = [name for name, count in collections.Counter(row["variant"] for row in rows).items() if count > 1]
        if twice:
            raise _freehold.InputError(f"{measure!r} is there twice of {twice[0]}: draw one comparison at a time")
        bars = [{"name": row["variant"], **_spread(row["value"], row["standard_deviation"])} for row in rows]
        return self.bars(measure, rows[0]["unit"], bars, quiet=["machine"])


class _Prediction(_Bars):
    """The values before the change, predicted and observed."""

    NEEDS = ("measure", "unit", "before", "before_sd", "predicted", "predicted_sd", "observed", "observed_sd")

    def __init__(self, altair, columns):
        super().__init__(altair)
        self.rows = {name: dict(zip(columns, row)) for name, row in zip(columns["measure"], zip(*columns.values()))}

    def has(self, measure):
        return measure in self.rows

    def measure(self, measure):
        _known(measure, self.has(measure), self.rows)
        row = self.rows[measure]
        kinds = [kind for kind in ("before", "predicted", "observed") if row[kind] is not None]
        if not kinds:
            raise _freehold.InputError(f"{measure!r} has no value in this result")
        bars = [{"name": kind, **_spread(row[kind], row[f"{kind}_sd"])} for kind in kinds]
        return self.bars(measure, row["unit"], bars, quiet=["before"])


class _Sweep:
    """Runs by the settings that vary."""

    NEEDS = ("run", "trace")

    def __init__(self, altair, columns, x, color):
        self.altair = altair
        self.columns = columns
        settings = {name.replace("-", "_") for name in _freehold.settings().to_dict()["setting"]}
        varied = [name for name in columns if name in settings and len(set(columns[name])) > 1]
        for name in filter(None, (x, color)):
            if name not in columns or name not in settings:
                raise _freehold.InputError(f"{name!r} is no setting of this sweep, in which vary: {', '.join(varied) or 'none'}")
        left = [name for name in varied if name not in (x, color)]
        self.x = x or (left.pop(0) if left else None)
        self.color = color or (left.pop(0) if left else None)
        self.row = left.pop(0) if left else None
        if self.x is None:
            raise _freehold.InputError("no setting varies in this sweep; name one by x")
        if left:
            raise _freehold.InputError(f"more vary than a chart can show; choose rows of one value of {' and '.join(left)}")

    def _of(self, measure):
        """The columns of a measure: its value, and its standard deviation or None."""
        if measure in self.columns and measure not in ("run", *self.NEEDS, "error"):
            values = self.columns[measure]
            return (measure, None) if all(value is None or isinstance(value, (int, float)) for value in values) else (None, None)
        for mean in self.columns:
            deviation = mean.removesuffix("_mean") + "_standard_deviation"
            if deviation in self.columns and _words(mean) == [REPLICATES, *_words(measure), "mean"]:
                return mean, deviation
        return None, None

    def has(self, measure):
        return self._of(measure)[0] is not None

    def measure(self, measure):
        value, deviation = self._of(measure)
        _known(measure, value is not None, self.columns)
        alt = self.altair
        traces = self.columns["trace"]
        names = {trace: pathlib.PurePath(trace).name for trace in traces}
        if len(set(names.values())) < len(names):
            names = {trace: trace for trace in names}
        rows = []
        for at, mean in enumerate(self.columns[value]):
            if mean is not None:
                row = _spread(mean, self.columns[deviation][at] if deviation else None)
                for name in filter(None, (self.x, self.color, self.row)):
                    row[name] = self.columns[name][at]
                rows.append({**row, "trace": names[traces[at]]})
        errors = [error for error in self.columns.get("error", []) if error]
        if not rows:
            raise _freehold.InputError(errors[0] if errors else f"{measure!r} has no value in this sweep")
        if errors:
            warnings.warn(f"{len(errors)} of {len(traces)} runs failed and are not drawn: {errors[0]}", stacklevel=4)
        chart = alt.Chart(width=260, height=200)
        x = alt.X(f"{self.x}:O", sort=_sorted(row[self.x] for row in rows), axis=alt.Axis(labelAngle=0))
        color = alt.Color(f"{self.color}:N") if self.color else alt.value("#3b78b5")
        y = alt.Y("value:Q", title=measure)
        lines = chart.mark_line(point=True).encode(x=x, y=y, color=color, tooltip=[f"{self.x}:O", "value:Q", "low:Q", "high:Q"])
        spans = chart.mark_rule(strokeWidth=2).encode(x=x, y=alt.Y("low:Q", title=measure), y2="high:Q", color=color)
        drawn = alt.layer(lines, spans)
        facets = {}
        if len({row["trace"] for row in rows}) > 1:
            facets["column"] = alt.Column("trace:N")
        if self.row:
            facets["row"] = alt.Row(f"{self.row}:N")
        data = alt.Data(values=rows)
        return drawn.facet(data=data, **facets) if facets else drawn.properties(data=data)


def _words(name):
    return re.findall(r"[a-z0-9]+", name.lower())


def _sorted(values):
    """Values in the order of an axis: numbers by size, others by first appearance."""
    values = list(dict.fromkeys(values))
    return sorted(values) if all(isinstance(value, (int, float)) for value in values) else values


def _known(measure, is_known, names):
    if not is_known:
        names = list(dict.fromkeys(names))
        words = "_".join(_words(measure))
        near = [name for name in names if words in "_".join(_words(name))] or names
        raise _freehold.InputError(f"{measure!r} is no measure of this result, which has {', '.join(near[:8])}{', …' if len(near) > 8 else ''}")
