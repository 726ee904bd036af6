"""SQL text: numbers, sums of products, nested cases."""

import numpy as np


def quoted(name):
    """A column's name."""
    return '"' + name.replace('"', '""') + '"'


def number(value):
    """A number to the last bit."""
    text = repr(float(value))
    return f"({text})" if text.startswith("-") else text


def literal(value):
    """A text or a number."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else number(value)


def linear(intercept, coef, names):
    """An intercept and products of columns, of which those with 0 are left out."""
    used = np.flatnonzero(coef)
    terms = [f"{number(coef[j])} * {names[j]}" for j in used]
    if intercept != 0.0 or not terms:
        terms.insert(0, number(intercept))
    return " + ".join(terms)


def clipped(value, lower, upper):
    """A value within bounds, of which infinite ones are none."""
    bounds = [(f"{value} < {number(lower)}", lower), (f"{value} > {number(upper)}", upper)]
    cases = " ".join(f"WHEN {test} THEN {number(bound)}" for test, bound in bounds if np.isfinite(bound))
    return f"CASE {cases} ELSE {value} END" if cases else value


def nested_cases(splits, values, leaves):
    """Each of the `AxisTrees` as an expression; `values` by column and `leaves` are expressions."""

    def below(node):
        if node < 0:
            return leaves[~node]
        low, high = below(splits.low[node]), below(splits.high[node])
        if splits.low[node] == splits.high[node]:
            return low
        return f"CASE WHEN {_goes_low(splits, node, values)} THEN {low}\nELSE {high} END"

    return [below(root) for root in splits.roots]


def _goes_low(splits, node, values):
    """The condition, which NULL meets where missing values go low."""
    value, threshold = values[splits.column[node]], splits.threshold[node]
    present = f"{value} IS NOT NULL" if threshold == np.inf else f"{value} <= {number(threshold)}"
    return f"({present} OR {value} IS NULL)" if splits.missing_low[node] else present
