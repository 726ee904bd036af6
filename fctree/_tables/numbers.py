"""Numbers of categories: which of the known ones the values of a column are."""

from bisect import bisect_left

import numpy as np

from fctree._tables.columns import sort_key
from fctree._tables.encoder import UNSEEN
from fctree._warnings import warn

_MANY_UNSEEN = 10  # of a column: fewer may be unknown by chance
_SEARCH = 32  # categories passed in the time of a search among them


def fill_numbers(out, column, known, name):
    """Write the numbers of a column's categories among the known ones, which are returned; None: those that the column has."""
    in_fit = known is None
    if in_fit:
        known = sorted(column.values, key=sort_key)
    out[:] = numbers_of(column.values, known)[column.codes]
    if not in_fit and column.values and known:
        _warn_of_unseen(out, column, known, name)
    return known


def numbers_of(values, known):
    """The numbers of some values among the ordered categories `known`; the last one is that of a missing value."""
    place = _places(values, known)
    fractions = [value for value in values if isinstance(value, float) and value not in place]
    place.update(_of_other_width(fractions, known, _places(known, known)) if fractions else {})
    return np.array([place.get(value, UNSEEN) for value in values] + [np.nan])


def _warn_of_unseen(out, column, known, name):
    """Warn if all values are unknown: of another type than the known ones, or many."""
    if _are_text(column.values).isdisjoint(_are_text((known[0], known[-1]))):
        values, why, first = "values", "they are of another type than in fit", 0
    elif np.any(out >= 0.0):
        return
    else:
        present = column.codes[column.codes >= 0]
        if len(present) < _MANY_UNSEEN:
            return
        values, why, first = f"{len(present)} values", "fit has seen none of them", present[0]
    warn(
        f"column {name!r}: all of its {values} count as unknown categories, because {why}, such as {column.values[first]!r} "
        f"where fit has seen {known[0]!r}",
    )


def _places(values, known):
    """The numbers of those of `values` that are among the ordered categories `known`: looking for a few takes
    less time than going through all."""
    if len(values) * _SEARCH >= len(known):
        return {value: float(number) for number, value in enumerate(known)}
    numbers = [bisect_left(known, sort_key(value), key=sort_key) for value in values]
    return {value: float(number) for value, number in zip(values, numbers) if known[number : number + 1] == [value]}


def _of_other_width(fractions, known, place):
    """Numbers, by fraction, of the categories that it is but for the rounding of one of the two to float32."""
    categories = [category for category in known if isinstance(category, float)]
    with np.errstate(over="ignore"):
        rounded = np.array(categories).astype(np.float32).tolist()
        singles = np.array(fractions).astype(np.float32).tolist()
    of_single = {}
    for single, value in zip(rounded, categories, strict=True):
        of_single[single] = None if single in of_single else value  # None: not to be told apart
    found = [(value, single, of_single.get(single)) for value, single in zip(fractions, singles, strict=True)]
    return {value: place[known] for value, single, known in found if known is not None and single in (value, known)}


def _are_text(values):
    return {isinstance(value, str) for value in values}
