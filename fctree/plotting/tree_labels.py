"""Labels of an oblique tree's nodes: names, numbers and sums cut to their largest terms.

Shared by text and pictures; does not need matplotlib.
"""

import re
from collections.abc import Mapping, Set
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator

from fctree._scored_trees import drawn_tree, missing_sides
from fctree._tables.estimators import encoded_names
from fctree._tree import SPLIT_KINDS, ObliqueTree
from fctree._validation import check_fitted

_ACCEPTED = "a fitted CurvatureTree* or FCODT* estimator or an ObliqueTree"


class TreeLabels:
    """Names and numbers of the nodes of one tree, an `ObliqueTree` or that of a fitted estimator.

    ``feature_names`` and ``class_names`` override the estimator's, which are ``x0, x1, ...`` and ``0, 1,
    ...`` if it has none. ``max_coef`` terms of a sum are shown, those that move it most (largest in
    absolute value, per standard deviation of the feature where the tree knows it), None shows all;
    ``decimals`` are the fewest digits after the decimal point, and the precision of sums
    (`rounding`), ``number`` is that of a tree of an ensemble.

    TypeError if `tree` is neither of the two or names are no list of names, NotFittedError if it has not
    been fitted, ValueError if names have the wrong length or a number is out of range.
    """

    def __init__(self, tree, *, feature_names, class_names, max_coef, decimals, number=None):
        self.max_coef = at_least("max_coef", max_coef, 1, none_allowed=True)
        self.decimals = at_least("decimals", decimals, 0, high=100)
        self.shown = set()  # features that some sum has named
        self.tree = _tree_of(tree) if number is None else drawn_tree(tree, number)
        self.missing_sides = {} if number is None else missing_sides(tree, number)
        feature_names = encoded_names(tree, listed("feature_names", feature_names))
        if feature_names is None:
            feature_names = [f"x{j}" for j in range(self.tree.n_features)]
        self.feature_names = _names(
            "feature_names", feature_names, self.tree.n_features
        )
        n_classes, n_outputs = self.tree.n_classes, self.tree.n_outputs
        classes = getattr(tree, "classes_", None if n_classes is None else range(n_classes))
        names = None if classes is None else _names_of_classes(class_names, classes)
        self.class_names = None if n_classes is None else names  # trees of ensembles know no fractions
        if names is None:
            if class_names is not None:
                raise ValueError("class_names was given, but the tree is a regression tree")
            self.output_names = ["y"] if n_outputs == 1 else [f"y{k}" for k in range(n_outputs)]
        else:  # of two classes the second one's, as decision_function has it
            self.output_names = [f"score({name})" for name in names[-n_outputs:]]

    def escape_names(self):
        """Escape line breaks and other control characters in all names."""
        self.feature_names = [in_one_line(name) for name in self.feature_names]
        self.class_names = self.class_names and [in_one_line(name) for name in self.class_names]
        self.output_names = [in_one_line(name) for name in self.output_names]

    def number(self, value, error=0.0):
        """A number with `decimals` digits, or in the form that keeps it visible; with more, up to those of a
        float, where it would else be off by more than `error` (0: no matter how much)."""
        size = abs(float(value))
        digits = places = 0  # that `error` asks for: significant ones, and those after the point
        if 0.0 < error < 1e300 and 0.0 < size < np.inf:
            power = int(np.floor(np.log10(size)))
            places = min(int(np.ceil(-np.log10(2.0 * error))), 16 - power)
            digits = places + power + 1
        if size != 0.0 and not 0.5 * 10.0**-self.decimals <= size < 1e6:
            return f"{value:.{max(self.decimals, digits, 2)}g}"
        whole, point, part = f"{value:.{max(self.decimals, places)}f}".partition(".")
        return (whole + point + part[: self.decimals] + part[self.decimals :].rstrip("0")).rstrip(".")

    def rounding(self, coef, constant, spread=np.inf):
        """Largest errors that rounding may make in the constant of a sum, and in each coefficient.

        Each term may be off by ``10**-decimals`` of `spread`, by default the standard deviation of the sum.
        The constant tells how large terms are: it makes up for features that are far from 0. In a
        tree that does not know the scales of its features numbers may be off by that share of their size, up
        to 1000.
        """
        relative = 10.0**-self.decimals
        scale = self.tree.feature_scale
        if scale is None:
            return relative * min(abs(constant), 1e3), relative * np.minimum(np.abs(coef), 1e3)
        moves = np.abs(coef * scale) if len(coef) else coef
        spread = np.linalg.norm(moves) if spread == np.inf else spread
        error = relative * spread if spread < np.inf else 0.0
        size = abs(constant) + moves
        return error, error * (np.abs(coef) / np.where(size > 0.0, size, 1.0))

    def weight(self, coef):
        """Effect of each term of a sum: coefficients per standard deviation, where known."""
        scale = self.tree.feature_scale
        return coef if scale is None or not len(coef) else coef * scale

    def largest(self, coef):
        """Indices of the terms to show, and how many others are not zero."""
        # A stable sort, so that equal coefficients come in the order of the features.
        order = np.argsort(-np.abs(self.weight(coef)), kind="stable")
        order = order[coef[order] != 0.0]
        shown = order if self.max_coef is None else order[: self.max_coef]
        return shown, order.shape[0] - shown.shape[0]

    def direction(self, node):
        """The sum that a split compares with its threshold, as text."""
        return self._linear(self.tree.coef[node], self.split_rounding(node)[1])

    def split_rounding(self, node):
        """Largest errors that rounding may make in the threshold of a split, and in its coefficients."""
        return self.rounding(self.tree.coef[node], self.tree.threshold[node])

    def _linear(self, coef, errors, text=""):
        """A linear function as text, ``0.52*bmi - 0.31*s1 + ... (8 more)``, after its constant."""
        shown, n_more = self.largest(coef)
        self.shown.update(shown.tolist())
        for j in shown:
            term = f"{self.number(abs(coef[j]), errors[j])}*{self.feature_names[j]}"
            if text:
                text += f" - {term}" if coef[j] < 0 else f" + {term}"
            else:
                text = f"-{term}" if coef[j] < 0 else term
        if n_more:
            text += f" + ... ({n_more} more)"
        return text or self.number(0.0)

    def cut(self, node, branches):
        """The threshold of a split, with the width of its boundary where that is soft and with the branch,
        of two names, that takes missing values where training had any."""
        error = self.split_rounding(node)[0]
        text = self.number(self.tree.threshold[node], error)
        if node in self.missing_sides:
            text += f" (missing: {branches[self.missing_sides[node]]})"
        if self.tree.boundary_width is None:
            return text
        return f"{text} \N{PLUS-MINUS SIGN} {self.number(self.tree.boundary_width[node], error)}"

    def kind(self, node):
        """The kind of a split: how its direction was found.

        Empty if the tree does not say, if all its splits are ridge splits, and if soft leaves have moved them.
        """
        kinds = self.tree.split_kind
        if kinds is None or self.tree.boundary_width is not None or not np.any(kinds > SPLIT_KINDS.index("ridge")):
            return ""
        return SPLIT_KINDS[kinds[node]]

    def value(self, node):
        """Mean of y, or what a constant leaf predicts; of classes the largest with its fraction."""
        if self.class_names is not None:
            value = self.tree.value[node]
            best = int(np.argmax(value[0]))
            return f"{self.class_names[best]} ({self.number(value[0, best])})"
        means = [self.mean(node, output) for output in range(self.tree.value.shape[1])]
        return means[0] if len(means) == 1 else f"[{', '.join(means)}]"

    def mean(self, node, output):
        """Mean of one target in a node, or what a constant leaf predicts, as text."""
        tree, value = self.tree, self.tree.value[:, output, 0]
        spread = self._target_spread()
        error = 10.0**-self.decimals * (np.abs(value).max() if spread == np.inf else spread)
        if self.is_constant(node):
            return self.number(tree.leaf_intercept[tree.leaf_index[node], output], error)
        return self.number(value[node], error)

    def is_constant(self, node):
        """Whether a node is a leaf whose model has no slope."""
        row, coef = self.tree.leaf_index[node], self.tree.leaf_coef
        return row >= 0 and (len(coef) == 0 or not np.any(coef[row]))

    def fractions(self, node):
        """Class fractions of a node as text."""
        fractions = (self.number(fraction) for fraction in self.tree.value[node, 0])
        return f"[{', '.join(fractions)}]"

    def leaf_models(self, node):
        """Linear models of a leaf, one text per output; none if the leaf is constant."""
        return [
            f"{name} = {self._linear(coef, error[1], self.number(constant, error[0]))}"
            for name, coef, constant, error in self.leaf_sums(node)
        ]

    def leaf_sums(self, node):
        """Linear models of a leaf, (name, coefficients, constant, `rounding`) of each output; none if the
        leaf is constant."""
        tree = self.tree
        row = tree.leaf_index[node]
        constant = tree.n_classes is None and self.is_constant(node)
        # A single class leaves nothing to score either.
        if constant or len(tree.leaf_coef) == 0 or tree.n_classes == 1:
            return []
        models = zip(tree.leaf_coef[row], tree.leaf_intercept[row])
        if tree.n_classes is not None and tree.n_outputs == 1:
            models = [(2.0 * coef, 2.0 * constant - 1.0) for coef, constant in models]
        spread = self._target_spread()
        return [(name, *model, self.rounding(*model, spread)) for name, model in zip(self.output_names, models)]

    def _target_spread(self):
        """Standard deviation of y, a bound on that of scores, or infinity where the tree knows neither."""
        tree = self.tree
        if tree.n_classes is not None:
            return 1.0
        known = tree.n_outputs == 1 and tree.feature_scale is not None and tree.impurity[0] > 0.0
        return float(np.sqrt(tree.impurity[0])) if known else np.inf


def _tree_of(tree):
    if isinstance(tree, ObliqueTree):
        return tree
    fitted = getattr(tree, "tree_", None)
    if isinstance(fitted, ObliqueTree):
        return fitted
    given = type(tree).__name__
    if hasattr(tree, "steps"):
        raise TypeError(
            f"expected {_ACCEPTED}, got a {given}: pass "
            "its last step, and the names of the features which that step sees"
        )
    if hasattr(tree, "trees_"):
        member = "estimators_" if hasattr(tree, "estimators_") else "trees_"
        raise TypeError(
            f"expected one tree, got a {given} of {len(tree.trees_)}: tree=0 chooses the first of them, "
            f"and .{member} has them all"
        )
    if isinstance(tree, BaseEstimator) and not hasattr(tree, "tree_"):
        check_fitted(tree)
    raise TypeError(
        f"expected {_ACCEPTED}, got a {given}. It may be an ensemble, too, a CurvatureForest*, CurvatureBoosting* or "
        "SymmetricBoosting*; plot_tree and export_text then need the number of one of its trees, such as tree=0"
    )


def listed(parameter, names):
    """Names as they are, or None; TypeError for what is no list of names in order."""
    if isinstance(names, (str, bytes, Mapping, Set)):
        mapping = ", or a mapping of classes to names" if parameter == "class_names" else ""
        raise TypeError(f"{parameter} must be a list of names{mapping}, got a {type(names).__name__}: {names!r}")
    return names


def _names_of_classes(names, classes):
    """The names that were given for the classes, in order or by class, or the classes themselves."""
    if names is None:
        names = classes
    elif isinstance(names, Mapping):
        missing = [label for label in classes if label not in names]
        if missing:
            raise ValueError(f"class_names has no name for the class {missing[0]!r}; its keys are {list(names)}")
        names = [names[label] for label in classes]
    return _names("class_names", listed("class_names", names), len(classes))


def in_one_line(name):
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", lambda c: c.group().encode("unicode_escape").decode(), name)


def _names(parameter, names, expected):
    names = [str(name) for name in names]
    if len(names) != expected:
        raise ValueError(f"{parameter} has {len(names)} names, expected {expected}")
    return names


def at_least(parameter, value, low, *, high=None, none_allowed=False):
    """Check an int parameter of the plots and return it as an int."""
    if value is None and none_allowed:
        return None
    above = high is not None and isinstance(value, Integral) and value > high
    if isinstance(value, bool) or not isinstance(value, Integral) or value < low or above:
        span = f"at least {low}" if high is None else f"{low} to {high}"
        also = " or None" if none_allowed else ""
        raise ValueError(f"{parameter} must be an int of {span}{also}, got {value!r}")
    return int(value)
