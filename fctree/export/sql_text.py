"""SQL text: numbers, sums of products, nested cases."""

from sys import float_info

import numpy as np


def quoted(name):
    """A column's name."""
    return '"' + name.replace('"', '""') + '"'


def number(value):
    """A number to the last bit, with an exponent: without, databases take it for a decimal, whose products they round or refuse."""
    text = repr(float(value))
    return _signed(text if "e" in text else f"{text}e0")


def _signed(text):
    return f"({text})" if text.startswith("-") else text


def is_unicode(text):
    """Whether the text is without halves of surrogate pairs."""
    return text.encode(errors="replace").decode() == text


def has_literal(value):
    """Whether databases can hold the text, which must not end at a NUL, or the number."""
    return "\0" not in value and is_unicode(value) if isinstance(value, str) else abs(value) <= float_info.max


def literal(value):
    """A text, an integer of up to 64 bits, or another number."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    whole = isinstance(value, int) and -(2**63) <= value < 2**63
    return _signed(str(value)) if whole else number(value)


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
    if np.isfinite(threshold):
        present = f"{value} <= {number(threshold)}"
    else:  # infinities have no literals
        present = f"{value} IS NOT NULL" if threshold > 0.0 else f"{value} < {number(-float_info.max)}"
    return f"({present} OR {value} IS NULL)" if splits.missing_low[node] else present
