"""C files while they are written: constant arrays and functions."""

from __future__ import annotations

import re

import numpy as np

_KEYWORDS = {
    *"auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while main linux unix asm typeof typeof_unqual bool true false nullptr constexpr "
    "static_assert thread_local alignas alignof".split()
}
# Names of math.h, which the file includes: functions that exist for each width of numbers, then all others.
_MATH = (
    "acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 exp10 pow10 expm1 frexp ilogb ldexp log log10 "
    "log1p log2 logb modf scalb scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma gamma ceil floor nearbyint "
    "rint lrint llrint round lround llround trunc fmod remainder remquo drem significand copysign nan nextafter nexttoward "
    "fdim fmax fmin fma finite isinf isnan j0 j1 jn y0 y1 yn lgamma_r lgammaf_r lgammal_r sincos"
).split()
_NOT_FUNCTIONS = (
    r"(_[_A-Z]|(FP|M|MATH)_|HUGE|INFINITY|NAN\b|fpclassify|signbit|signgam|math_errhandling|(float|double)_t|is(finite|normal|greater"
    "|less|unordered))"
)
_TAKEN = _KEYWORDS | {name + width for name in _MATH for width in ("", "f", "l")}
_MOST_CHARACTERS = 100  # of a line

_DOT = """
static double @dot(const double *a, const double *x, int n) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    s0 += a[j] * x[j];
    s1 += a[j + 1] * x[j + 1];
    s2 += a[j + 2] * x[j + 2];
    s3 += a[j + 3] * x[j + 3];
  }
  for (; j < n; ++j) s0 += a[j] * x[j];
  return (s0 + s1) + (s2 + s3);
}
"""


class CFile:
    """The parts of a file. In code ``@`` stands for the prefix of what only the file itself sees.

    ``name`` is that of the function that other files call; TypeError or ValueError if it is not one of C.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {name!r}")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name):
            raise ValueError(f"name={name!r} cannot name a function of C")
        if name in _TAKEN or re.match(_NOT_FUNCTIONS, name):
            raise ValueError(f"name={name!r} cannot name a function of C: the language or math.h has it")
        self.name = name
        self._parts: list[str] = []

    def array(self, name, values):
        """Add a constant array: int for integers, else double."""
        values = np.ravel(values)
        kind = "int" if values.dtype.kind in "iu" else "double"
        numbers = [str(v) if kind == "int" else _number(v) for v in values.tolist()] or ["0"]
        self._parts.append(
            f"static const {kind} @{name}[{len(numbers)}] = {{\n{_wrapped(numbers)}\n}};\n"
        )

    def add(self, code):
        """Add code."""
        self._parts.append(code.lstrip("\n"))

    def add_dot(self):
        """Add the function for products of vectors."""
        if _DOT.lstrip("\n") not in self._parts:
            self.add(_DOT)

    def text(self):
        """Return the file."""
        return "\n".join(self._parts).replace("@", f"{self.name}_")


def as_comment(lines):
    """A comment; marks in its lines that would end it, or cause a warning, are spaced out."""
    text = "\n".join(lines)
    for mark in ("*/", "/*", "??"):
        text = text.replace(mark, " ".join(mark))
    return f"/* {text} */"


def _number(value):
    """A number as C reads it, to the last bit."""
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _wrapped(numbers):
    lines, line = [], " "
    for number in numbers:
        if len(line) + len(number) + 2 > _MOST_CHARACTERS:
            lines.append(line)
            line = " "
        line += f" {number},"
    return "\n".join([*lines, line])
