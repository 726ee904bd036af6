"""The box of one node in the picture of a tree: its content and its size.

A box has a coloured head with lines of text and a white body with one bar a coefficient.
Sizes are in points (1/72 inch) at the font size `FONT_SIZE`, measured on the outlines of
the letters, so that text is known to fit before anything is drawn.
"""

from dataclasses import dataclass, field
from functools import lru_cache

FONT_SIZE = 9.0
LINE = 13.0  # height of a line of text
STRIP = 5.0  # height of the strip of class fractions
PAD = 6.0  # between the rim of a box and its content
NAME_LIMIT = 124.0  # wider feature names are cut
_MOST_LETTERS = 200  # more do not fit
_TAIL = 10  # letters at the end of names that begin alike
_MIN_WIDTH = 58.0


@dataclass
class NodeBox:
    """Content of a node's box, from top to bottom; sizes come from `measure`."""

    title: str
    note: str = ""  # at the right end of the title's line
    lines: list = field(default_factory=list)  # further lines of the head
    fractions: object = None  # class fractions, drawn as a strip under the head
    bars: list = field(default_factory=list)  # (name, length in [-1, 1], text)
    more: str = ""  # at the left end of the last line
    footer: str = ""  # at its right end
    is_split: bool = False
    name_width: float = 0.0
    bar_length: float = 0.0  # to either side of the middle
    text_width: float = 0.0
    width: float = 0.0
    height: float = 0.0

    @property
    def head_height(self):
        """Height of the coloured part."""
        strip = 0.0 if self.fractions is None else STRIP
        return LINE * (1 + len(self.lines)) + PAD + strip

    @property
    def body_height(self):
        """Height of the white part, 0 where there is none."""
        n_lines = len(self.bars) + bool(self.more or self.footer)
        return LINE * n_lines + 1.5 * PAD if n_lines else 0.0


def measure(boxes):
    """Cut long names and set the sizes; all splits get one width, and all leaves."""
    for is_split in (True, False):
        group = [box for box in boxes if box.is_split == is_split]
        if not group:
            continue
        names = [name for box in group for name, _, _ in box.bars]
        short = dict(zip(names, cut_apart(names), strict=True))
        for box in group:
            box.bars = [(short[name], length, text) for name, length, text in box.bars]
        rows = [bar for box in group for bar in box.bars]
        name_width = max((text_width(name) for name, _, _ in rows), default=0.0)
        number_width = max((text_width(text) for _, _, text in rows), default=0.0)
        bar_length = 28.0 if is_split else 18.0
        width = _MIN_WIDTH
        if rows:
            width = 3 * PAD + name_width + 2 * bar_length
            width += number_width + PAD if number_width else 0.0
        width = max([width, *(_text_lines_width(box) for box in group)])
        for box in group:
            box.name_width, box.text_width = name_width, number_width
            box.bar_length, box.width = bar_length, width
            box.height = box.head_height + box.body_height


def _text_lines_width(box):
    head = text_width(box.title, bold=True)
    if box.note:
        head += 2 * PAD + text_width(box.note)
    last = text_width(box.more) + text_width(box.footer, bold=True)
    last += 2 * PAD if box.more and box.footer else 0.0
    return 2 * PAD + max([head, last, *(text_width(line) for line in box.lines)])


def cut_apart(names):
    """The names cut at their ends, or before their last letters where that would make some of them alike."""
    found = [cut(name) for name in names]
    if len(set(found)) == len(set(names)):
        return found
    return [cut(name, name[-_TAIL:]) for name in names]


def cut(text, tail=""):
    """The text, or as much of its beginning as fits a name's column before an ellipsis and a tail."""
    if len(text) <= _MOST_LETTERS and text_width(text) <= NAME_LIMIT:
        return text
    tail = "\N{HORIZONTAL ELLIPSIS}" + tail.lstrip()
    fits, too_long = 1, min(len(text), _MOST_LETTERS)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if text_width(text[:middle] + tail) <= NAME_LIMIT:
            fits = middle
        else:
            too_long = middle
    return text[:fits].rstrip() + tail


@lru_cache(maxsize=4096)
def text_width(text, bold=False):
    """Width of a line of text in points at `FONT_SIZE`."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0
    font = FontProperties(size=FONT_SIZE, weight="bold" if bold else "normal")
    # A dollar sign would be read as the start of a formula; S is as wide.
    outline = TextPath((0, 0), text.replace("$", "S"), prop=font)
    # The control points hold the curves, whose own ends take long to find. Letters are rounded to whole pixels
    # on a screen, which adds up to a few percent.
    return 1.05 * float(outline.vertices[:, 0].max(initial=0.0))
