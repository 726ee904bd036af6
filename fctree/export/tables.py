"""From the columns of a table to the features of trees: missing values and categories."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from fctree._tables.estimators import column_names
from fctree._typing import NDArray
from fctree.export.sql_text import has_literal, is_unicode, literal, number


@dataclass(eq=False)
class Lookup:
    """Features that are values of levels of a column, or of a pair of columns.

    ``values`` is (n_cells + 1, n_features), the last row for what training had not.
    """

    columns: tuple[int, ...]
    values: NDArray[Any]


class TableSteps:
    """The steps by which a fitted model makes features of a table."""

    def __init__(self, model: Any) -> None:
        self._encoder = getattr(model, "encoder_", None)
        self.names = column_names(model)
        self.n_columns = len(self.names)
        layout = [] if self._encoder is None else self._encoder.layout()
        self.n_features = len(layout) if layout else self.n_columns
        self._steps = [self._step(group) for _, group in groupby(layout, self._key)]

    @property
    def categories(self):
        """The names of the columns of categories."""
        if self._encoder is None:
            return []
        known = zip(self.names, self._encoder.categories, strict=True)
        return [name for name, values in known if values is not None]

    @property
    def is_identity(self):
        """Whether the columns are the features."""
        return self._encoder is None or not (self._encoder.impute or self.categories)

    def _key(self, entry):
        """A key that the features of one step share."""
        column, kind, _ = entry
        if kind in ("value", "missing"):
            return kind, column
        return "lookup", self._encoder.level_values(entry)[0]

    def _step(self, group):
        """(column, kind) of a number, or a `Lookup`."""
        entries = list(group)
        column, kind, _ = entries[0]
        if kind in ("value", "missing"):
            return column, kind
        found = [self._encoder.level_values(entry) for entry in entries]
        return Lookup(found[0][0], np.stack([values for _, values in found], axis=1))

    def _mean(self, column):
        """The number that replaces a missing one, NaN if it stays missing."""
        mean = self._encoder.means[column] if self._encoder.impute else np.nan
        return 0.0 if self._always_zero(column) else float(mean)

    def _always_zero(self, column):
        """Whether training had no number."""
        return self._encoder.impute and np.isnan(self._encoder.means[column])

    # ONNX -----------------------------------------------------------------------------

    def onnx(self, graph, inputs, dtype):
        """Write the features, (n_samples, n_features) float64.

        ``inputs`` are one of shape (n_samples, n_columns) without categories, else one a column; those that
        are numbers are of the type ``dtype``.
        """
        if not self.categories:
            x = inputs[0] if dtype is np.float64 else graph.cast(inputs[0], np.float64)
            return x if self.is_identity else self._onnx_imputed(graph, x)
        numbers = [
            None if values is not None else
            column if dtype is np.float64 else graph.cast(column, np.float64)
            for column, values in zip(inputs, self._encoder.categories, strict=True)
        ]  # fmt: skip
        levels: dict[int, str] = {}
        parts = []
        for step in self._steps:
            if not isinstance(step, Lookup):
                parts.append(self._onnx_number(graph, numbers[step[0]], *step))
                continue
            for column in step.columns:
                if column not in levels:
                    source = numbers[column] or inputs[column]
                    levels[column] = self._onnx_level(graph, source, column, dtype)
            cell = self._onnx_cell(graph, [levels[column] for column in step.columns], step)
            found = graph.add("Gather", step.values, cell, axis=0)
            parts.append(graph.add("Squeeze", found, np.array([1])))
        return graph.add("Concat", *parts, axis=1)

    def _onnx_imputed(self, graph, x):
        """All columns are numbers."""
        columns = range(self.n_columns)
        missing = graph.add("IsNaN", x)
        means = np.array([self._mean(column) for column in columns])
        filled = graph.add("Where", missing, means, x)
        empty = np.array([self._always_zero(column) for column in columns])
        if np.any(empty):
            filled = graph.add("Where", empty, np.array(0.0), filled)
        flagged = [column for column, kind in self._steps if kind == "missing"]
        if not flagged:
            return filled
        flags = graph.add("Gather", missing, np.array(flagged), axis=1)
        both = graph.add("Concat", filled, graph.cast(flags, np.float64), axis=1)
        place = [column if kind == "value" else self.n_columns + flagged.index(column)
                 for column, kind in self._steps]  # fmt: skip
        return graph.add("Gather", both, np.array(place), axis=1)

    def _onnx_number(self, graph, x, column, kind):
        if kind == "missing":
            return graph.cast(graph.add("IsNaN", x), np.float64)
        if self._always_zero(column):
            return graph.zeros(x, 1)
        mean = self._mean(column)
        return x if np.isnan(mean) else graph.add("Where", graph.add("IsNaN", x), np.array(mean), x)

    def _onnx_level(self, graph, x, column, dtype):
        """The levels of a column, (n_samples, 1) int64: -1 for what training had not."""
        values, edges = self._encoder.categories[column], self._encoder.edges[column]
        if values is None:
            above = graph.cast(graph.add("GreaterOrEqual", x, edges), np.int64)
            level = graph.add("ReduceSum", above, np.array([1]), keepdims=1)
            return graph.add("Where", graph.add("IsNaN", x), np.array(len(edges) + 1), level)
        missing = len(values) if self._encoder.has_missing[column] else -1
        places = {"values_tensor": np.arange(len(values)), "default_tensor": np.array([-1])}
        if self.holds_text(column):
            if "" in values and missing >= 0:
                raise ValueError(
                    f"column {self.names[column]!r} had empty strings and missing values in fit, and ONNX has the empty "
                    "string for both: make one of the other before fit"
                )
            odd = [text for text in values if not is_unicode(text)]
            if odd:
                raise ValueError(
                    f"column {self.names[column]!r} holds the category {odd[0]!r}, half of a surrogate pair, which ONNX's "
                    "UTF-8 cannot hold: change it before fit"
                )
            texts = values if "" in values else [*values, ""]
            numbers = [*range(len(values)), *[missing] * (len(texts) - len(values))]
            return graph.add("LabelEncoder", x, domain="ai.onnx.ml", keys_strings=texts,
                             values_int64s=numbers, default_int64=-1)  # fmt: skip
        keys = self._numeric_keys(column, dtype)
        level = graph.add("LabelEncoder", x, domain="ai.onnx.ml", keys_tensor=keys, **places)
        return graph.add("Where", graph.add("IsNaN", x), np.array(missing), level)

    def _numeric_keys(self, column, dtype):
        """Categories that are numbers as inputs of this type; ValueError if it merges some."""
        values = self._encoder.categories[column]
        keys = np.array(values, dtype=dtype)
        if len(np.unique(keys)) == len(keys):
            return keys
        remedy = "convert them to text before fit"
        if dtype is np.float32 and len(np.unique(np.array(values, dtype=np.float64))) == len(keys):
            remedy = f"use dtype=numpy.float64, or {remedy}"
        raise ValueError(
            f"column {self.names[column]!r} has categories that are equal in {keys.dtype}: {remedy}"
        )

    def holds_text(self, column):
        """Whether a column holds categories that are text; ValueError if some are text and some are
        numbers."""
        values = self._encoder.categories[column] if self._encoder is not None else None
        kinds = {isinstance(value, str) for value in values or ()}
        if len(kinds) > 1:
            raise ValueError(
                f"column {self.names[column]!r} holds text and numbers as categories, which neither ONNX nor "
                "SQL has a type for: convert them to text"
            )
        return True in kinds

    def _onnx_cell(self, graph, levels, step):
        if len(levels) == 1:
            return levels[0]
        first, second = levels
        size = np.array(self._encoder.n_levels(step.columns[1]))
        cell = graph.add("Add", graph.add("Mul", first, size), second)
        unseen = [graph.add("Less", level, np.array(0)) for level in levels]
        return graph.add("Where", graph.add("Or", *unseen), np.array(-1), cell)

    # C --------------------------------------------------------------------------------

    def c(self, source):
        """Write a function that computes the features of a sample; returns its name."""
        lines, levels = ["(void)x;"], set()  # of columns without any values nothing is read
        for place, step in zip(self._places(), self._steps, strict=True):
            if not isinstance(step, Lookup):
                lines.append(f"z[{place}] = {self._c_number(*step)};")
                continue
            for column in step.columns:
                if column not in levels:
                    levels.add(column)
                    lines.append(f"const int level{column} = {self._c_level(column)};")
            n_cells, width = len(step.values) - 1, step.values.shape[1]
            source.array(f"values{place}", step.values)
            cell = self._c_cell(step)
            lines.append(f"const double *row{place} = @values{place} + "
                         f"{width} * ({cell} < 0 ? {n_cells} : {cell});")  # fmt: skip
            lines += [f"z[{place + k}] = row{place}[{k}];" for k in range(width)]
        body = "\n".join(f"  {line}" for line in lines)
        source.add(f"\nstatic void @encode(const double *x, double *z) {{\n{body}\n}}\n")
        return "@encode"

    def _places(self):
        widths = [s.values.shape[1] if isinstance(s, Lookup) else 1 for s in self._steps]
        return np.cumsum([0, *widths])[:-1].tolist()

    def _c_number(self, column, kind):
        if kind == "missing":
            return f"isnan(x[{column}]) ? 1.0 : 0.0"
        if self._always_zero(column):
            return "0.0"
        mean = self._mean(column)
        return f"x[{column}]" if np.isnan(mean) else f"isnan(x[{column}]) ? {mean!r} : x[{column}]"

    def _c_level(self, column):
        values, edges = self._encoder.categories[column], self._encoder.edges[column]
        x = f"x[{column}]"
        if values is None:
            above = " + ".join(f"({x} >= {edge!r})" for edge in edges.tolist()) or "0"
            return f"isnan({x}) ? {len(edges) + 1} : {above}"
        missing = len(values) if self._encoder.has_missing[column] else -1
        return f"isnan({x}) ? {missing} : {x} >= 0 && {x} < {len(values)} ? (int){x} : -1"

    def _c_cell(self, step):
        if len(step.columns) == 1:
            return f"level{step.columns[0]}"
        a, b = step.columns
        size = self._encoder.n_levels(b)
        return f"(level{a} < 0 || level{b} < 0 ? -1 : level{a} * {size} + level{b})"

    def c_comment(self):
        """The numbers of the categories, lines of a comment, in ASCII."""
        lines = []
        for name in self.categories:
            values = self._encoder.categories[self.names.index(name)]
            pairs = ", ".join(f"{number} {value!a}" for number, value in enumerate(values))
            lines.append(f"   {name!a}: {pairs}")
        return lines

    # SQL ------------------------------------------------------------------------------

    def sql(self, columns):
        """The features as expressions of the columns; ValueError for categories that SQL cannot have."""
        for column in range(self.n_columns):
            self._check_sql(column)
        found = []
        for step in self._steps:
            if isinstance(step, Lookup):
                found += [self._sql_lookup(columns, step.columns, *values.tolist()) for values in step.values.T]
            else:
                found.append(self._sql_number(columns[step[0]], *step))
        return found or columns

    def _check_sql(self, column):
        """ValueError for categories that have no literals, or equal ones, and for a column of text and numbers."""
        self.holds_text(column)
        values = (self._encoder.categories[column] if self._encoder is not None else None) or []
        odd = [value for value in values if not has_literal(value)]
        if odd:
            raise ValueError(f"column {self.names[column]!r} holds the category {odd[0]!r}, which SQL cannot hold: change it before fit")
        if len(set(map(literal, values))) < len(values):
            raise ValueError(
                f"column {self.names[column]!r} has integers of more than 64 bits as categories, which are equal in float64: "
                "convert them to text before fit"
            )

    def _sql_lookup(self, columns, keys, *values):
        """The value of a level, or of a pair of levels, from all values, the last for what training had not."""
        column, *others = keys
        *known, unseen = values
        if others:
            cells = np.reshape(known, (-1, self._encoder.n_levels(others[0]))).tolist()
            results = [self._sql_lookup(columns, others, *row, unseen) for row in cells]
        else:
            results = list(map(number, known))
        return self._sql_cases(columns[column], column, results, number(unseen))

    def _sql_cases(self, name, column, results, otherwise):
        """Results by the level of a column."""
        values, edges = self._encoder.categories[column], self._encoder.edges[column].tolist()
        if values is None:
            tests = [*(f"{name} < {number(edge)}" for edge in edges), f"{name} IS NOT NULL", f"{name} IS NULL"]
        else:
            tests = [f"{name} = {literal(value)}" for value in values] + [f"{name} IS NULL"]
        cases = [
            f"WHEN {test} THEN {result}"
            for test, result in zip(tests, results, strict=False) if result != otherwise or values is None
        ]  # fmt: skip
        return f"(CASE {' '.join(cases)} ELSE {otherwise} END)" if cases else otherwise

    def _sql_number(self, name, column, kind):
        if kind == "missing":
            return f"(CASE WHEN {name} IS NULL THEN 1.0 ELSE 0.0 END)"
        mean = self._mean(column)
        if np.isnan(mean):
            return name
        return "0.0" if self._always_zero(column) else f"COALESCE({name}, {number(mean)})"
