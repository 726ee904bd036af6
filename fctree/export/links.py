"""From raw scores to predictions: inverse links, probabilities and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from fctree._typing import FloatArray, NDArray
from fctree.oblique.calibration import FLOOR

_LARGEST = float(np.finfo(np.float64).max)
_C = {
    "identity": """
  (void)out;""",
    "exp": """
  for (int k = 0; k < {n}; ++k) out[k] = exp(out[k]);""",
    "certain": """
  out[0] = 1.0;""",
    "logistic": """
  const double odds = exp(-fabs(out[0]));
  out[1] = (out[0] > 0.0 ? 1.0 : odds) / (1.0 + odds);
  out[0] = 1.0 - out[1];""",
    "share": """
  out[1] = out[0] < 0.0 ? 0.0 : out[0] > 1.0 ? 1.0 : out[0];
  out[0] = 1.0 - out[1];""",
    "softmax": """
  double largest = out[0], sum = 0.0;
  for (int k = 1; k < {n}; ++k) largest = out[k] > largest ? out[k] : largest;
  for (int k = 0; k < {n}; ++k) sum += out[k] = exp(out[k] - largest);
  for (int k = 0; k < {n}; ++k) out[k] /= sum;""",
    "simplex": """
  double ordered[{n}], sum = 0.0, shift = -1.0;
  for (int k = 0; k < {n}; ++k) {{
    int at = k;
    for (; at > 0 && ordered[at - 1] < out[k]; --at) ordered[at] = ordered[at - 1];
    ordered[at] = out[k];
  }}
  for (int k = 0; k < {n}; ++k) {{
    const double below = ordered[k] - ordered[0];
    sum += below < -1.0 ? -1.0 : below;
    if ((sum - 1.0) / (k + 1) > shift) shift = (sum - 1.0) / (k + 1);
  }}
  for (int k = 0; k < {n}; ++k) {{
    const double p = out[k] - ordered[0] - shift;
    out[k] = p < 0.0 ? 0.0 : p;
  }}""",
}


@dataclass(eq=False)
class Link:
    """Predictions as a function of ``offset + factor * sums``.

    Attributes
    ----------
    kind : str
        ``"identity"`` and ``"exp"`` are of regressors. Of classifiers: ``"certain"`` has one
        class, ``"logistic"`` log-odds of the second class, ``"share"`` its probability before it is clipped,
        ``"softmax"`` and ``"simplex"`` (the nearest probabilities) a score for each class.
    offset : array of shape (n_outputs,)
    factor : float or array of shape (n_outputs,)
    classes : array of shape (n_classes,) or None
    decision : pair (offset, factor) or None
        Of classifiers: what makes `decision_function` of the sums.
    calibration : pair (exponent, shifts) or None
        What probabilities, `FLOOR` added to each, are raised to, and what is added to their logarithms then, (n_classes,).
    """

    kind: str
    offset: FloatArray
    factor: Any
    classes: NDArray[Any] | None
    decision: tuple[FloatArray, Any] | None = None
    calibration: tuple[float, FloatArray] | None = None

    @classmethod
    def of(cls, model, offset, factor, *, indicators):
        """Read the link of a model.

        With ``offset`` and ``factor`` the sums become raw predictions: for classifiers scores whose
        softmax, or logistic function, are probabilities, or with ``indicators`` predicted indicators.
        """
        if not is_classifier(model):
            kind = "exp" if getattr(model, "_has_log_link", False) else "identity"
            return cls(kind, offset, factor, None)
        n_classes, temperature = len(model.classes_), getattr(model, "temperature_", None)
        if n_classes == 1:
            kind = "certain"
        elif indicators and temperature is None:
            kind = "share" if n_classes == 2 else "simplex"
        else:
            kind = "logistic" if n_classes == 2 else "softmax"
        decision = offset, factor
        if indicators and n_classes <= 2:
            decision = 2.0 * offset - 2.0 * model._even_score, 2.0 * factor
        if temperature is not None:
            slope = 2.0 * temperature if n_classes == 2 else temperature
            offset = slope * (offset - (0.5 if n_classes == 2 else 0.0))
            factor = slope * factor
        is_calibrated = getattr(model, "exponent_", None) is not None
        calibration = (model.exponent_, model.class_shifts_) if is_calibrated else None
        return cls(kind, offset, factor, model.classes_, decision, calibration)

    @property
    def _even(self):
        """A score that favours no class, for NaN (infinity minus infinity)."""
        return 0.5 if self.kind == "share" else 0.0

    @property
    def n_predictions(self):
        """Number of predictions of a sample: classes, or outputs."""
        return len(self.offset) if self.classes is None else len(self.classes)

    def c(self, source):
        """Write functions that clear ``out`` for the sums, and that turn them into predictions; returns
        their names."""
        n = len(self.offset)
        factor = np.broadcast_to(np.asarray(self.factor, dtype=np.float64), n)
        source.array("offset", self.offset)
        start, scaled = "@offset[k]", ""
        if not np.all(factor == 1.0):
            source.array("factor", factor)
            start = "0.0"
            scaled = f"""
  for (int k = 0; k < {n}; ++k) out[k] = @offset[k] + @factor[k] * out[k];"""
        if self.classes is not None:  # infinite scores count as the largest numbers
            scaled += f"""
  for (int k = 0; k < {n}; ++k)
    out[k] = isnan(out[k]) ? {self._even!r} : fmax(-{_LARGEST!r}, fmin({_LARGEST!r}, out[k]));"""
        source.add(f"""
static void @start(double *out) {{
  for (int k = 0; k < {n}; ++k) out[k] = {start};
}}

static void @finish(double *out) {{{scaled}{_C[self.kind].format(n=n)}{self._c_of_calibration(source)}
}}
""")
        return "@start", "@finish"

    def _c_of_calibration(self, source):
        if self.calibration is None:
            return ""
        n, (exponent, shifts) = self.n_predictions, self.calibration
        source.array("shift", shifts)
        return f"""
  {{
  for (int k = 0; k < {n}; ++k) out[k] = {exponent!r} * log(out[k] + {FLOOR!r}) + @shift[k];{_C["softmax"].format(n=n)}
  }}"""

    def onnx(self, graph, sums, raw_scores=False):
        """Write the outputs; returns the names of the predictions (n_samples, n_outputs), or of labels
        (n_samples,) and probabilities (n_samples, n_classes), or with ``raw_scores`` the scores of
        `decision_function` instead, as skl2onnx has them: of two classes -s and s."""
        scores = _scaled(graph, sums, self.offset, self.factor)
        if self.classes is None:
            return [graph.add("Exp", scores) if self.kind == "exp" else scores]
        scores = graph.add("Where", graph.add("IsNaN", scores), np.array(self._even), scores)
        scores = graph.add("Clip", scores, np.array(-_LARGEST), np.array(_LARGEST))
        index, probabilities = _CLASSES[self.kind](graph, scores, len(self.classes))
        if self.calibration is not None:
            exponent, shifts = self.calibration
            logarithms = graph.add("Log", graph.add("Add", probabilities, np.array(FLOOR)))
            shifted = graph.add("Add", graph.add("Mul", logarithms, np.array(exponent)), shifts)
            probabilities = graph.add("Softmax", shifted, axis=1)
            index = graph.add("ArgMax", probabilities, axis=1, keepdims=0)
            if raw_scores and len(self.classes) > 2:
                probabilities, raw_scores = graph.add("Log", probabilities), False
        if raw_scores:
            probabilities = _scaled(graph, sums, *self.decision)
            if len(self.classes) == 2:
                opposite = graph.add("Neg", probabilities)
                probabilities = graph.add("Concat", opposite, probabilities, axis=1)
        return [graph.add("Gather", labels_of(self.classes), index, axis=0), probabilities]


def _scaled(graph, sums, offset, factor):
    scores = graph.add("Mul", sums, np.asarray(factor, dtype=np.float64))
    # Not Add, which ONNX Runtime leaves out where the number is 0 in float32.
    return graph.add("Sum", scores, np.asarray(offset, dtype=np.float64))


def labels_of(classes):
    """Labels as ONNX has them: int64, or text; ValueError for integers that int64 does not hold."""
    if classes.dtype.kind not in "biuf":
        return classes.astype(str)
    labels = classes.astype(np.int64)
    if np.any(labels != classes):
        raise ValueError(
            f"the class {classes[labels != classes].tolist()[0]} does not fit into int64, the type of ONNX's labels: "
            "convert the labels to text before fit"
        )
    return labels


def _certain(graph, scores, n_classes):
    ones = graph.add("Add", graph.zeros(scores, 1), np.array(1.0))
    return graph.zeros(scores, None, np.int64), ones


def _logistic(graph, scores, n_classes):
    return _second(graph, scores, 0.0), _with_first(graph, graph.add("Sigmoid", scores))


def _share(graph, scores, n_classes):
    share = graph.add("Clip", scores, np.array(0.0), np.array(1.0))
    return _second(graph, scores, 0.5), _with_first(graph, share)


def _second(graph, scores, threshold):
    """1 for a score above the threshold, else 0."""
    above = graph.cast(graph.add("Greater", scores, np.array(threshold)), np.int64)
    return graph.add("Squeeze", above, np.array([1]))


def _with_first(graph, second):
    return graph.add("Concat", graph.add("Sub", np.array(1.0), second), second, axis=1)


def _softmax(graph, scores, n_classes):
    return graph.add("ArgMax", scores, axis=1, keepdims=0), graph.add("Softmax", scores, axis=1)


def _simplex(graph, scores, n_classes):
    """The nearest probabilities: scores less the largest shift that makes some of them sum to 1."""
    ordered, _ = graph.add("TopK", scores, np.array([n_classes]), axis=1, n_outputs=2)
    largest = graph.add("Gather", ordered, np.array([0]), axis=1)

    def below(values):
        return graph.add("Max", graph.add("Sub", values, largest), np.array(-1.0))

    sums = graph.add("CumSum", below(ordered), np.array(1))
    counts = np.arange(1.0, n_classes + 1.0)
    shifts = graph.add("Div", graph.add("Sub", sums, np.array(1.0)), counts)
    shift, _ = graph.add("TopK", shifts, np.array([1]), axis=1, n_outputs=2)
    moved = graph.add("Sub", below(scores), shift)
    probabilities = graph.add("Clip", moved, np.array(0.0), np.array(1.0))
    return graph.add("ArgMax", scores, axis=1, keepdims=0), probabilities


_CLASSES = {
    "certain": _certain,
    "logistic": _logistic,
    "share": _share,
    "softmax": _softmax,
    "simplex": _simplex,
}
