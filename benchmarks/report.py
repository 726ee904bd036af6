"""Print tables and write results as JSON."""

import json
import math
import os
from datetime import date
from pathlib import Path

from environment import machine_facts

RESULTS = Path(__file__).resolve().parent / "results"


def seconds_text(value):
    """A duration for people: `-` for a missing one, three significant digits else."""
    if value is None or math.isnan(value):
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def number_text(value, digits=4):
    """A number with `digits` significant digits, `-` for a missing one."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, (int, str)):
        return str(value)
    return f"{value:.{digits}g}"


def print_table(title, header, rows):
    """Print rows under a header, numbers to the right, text to the left."""
    cells = [[c if isinstance(c, str) else number_text(c) for c in row] for row in rows]
    widths = [max(len(str(h)), *(len(r[i]) for r in cells), 1) if cells else len(str(h))
              for i, h in enumerate(header)]
    print(f"\n{title}")
    print("  ".join(str(h).ljust(w) if i == 0 else str(h).rjust(w)
                    for i, (h, w) in enumerate(zip(header, widths, strict=True))))
    print("  ".join("-" * w for w in widths))
    for row in cells:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(row, widths, strict=True))), flush=True)


def print_markdown(title, header, rows):
    """Print rows as a Markdown table, ready for a results page."""
    cells = [[c if isinstance(c, str) else number_text(c) for c in row] for row in rows]
    print(f"\n{title}\n")
    print("| " + " | ".join(str(h) for h in header) + " |")
    print("|---" + "|---:" * (len(header) - 1) + "|")
    for row in cells:
        print("| " + " | ".join(row) + " |", flush=True)


def add_arguments(parser, name):
    """The two options every benchmark has."""
    parser.add_argument("--json", type=Path, default=RESULTS / f"{name}.json", metavar="FILE",
                        help="where the results are written (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a run of about a minute")


def add_run_arguments(parser, programs, max_rows, folds):
    """Options of a benchmark of many programs on many sets, which goes on where it stopped."""
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="folder of the fits' records")
    parser.add_argument("--max-rows", type=int, default=max_rows, help="most rows of a set, all folds together")
    parser.add_argument("--folds", type=int, default=folds)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--programs", nargs="*", choices=list(programs))
    add_hinge_argument(parser)
    parser.add_argument("--show", action="store_true", help="only summarise the records")


def add_hinge_argument(parser):
    parser.add_argument("--hrt", type=Path, nargs="+", default=(), metavar="FOLDER",
                        help="folders with the authors' code of hinge regression trees and of HRT-Boost")


def warn_if_busy():
    """Say so when other programs are running: times and even ratios suffer.

    OpenMP programs suffer most: a thread that has lost its core keeps the others waiting.
    """
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"WARNING: load average {load:.1f} before the start: other programs are running, "
              "the times below are too long and the ratios unreliable", flush=True)


def write_json(path, name, results, quick=False):
    """Write the results with the machine's facts; an interrupted write leaves the old file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"benchmark": name, "date": date.today().isoformat(), "quick": quick,
                "machine": machine_facts(), "results": results}
    partial = path.with_suffix(path.suffix + ".partial")
    partial.write_text(json.dumps(_finite(document), indent=1) + "\n")
    partial.replace(path)


def earlier_sets(arguments, settings):
    """The sets in the result file if `--extend` is given; ends the program if its settings are not the same."""
    if not arguments.extend or not arguments.json.is_file():
        return {}
    earlier = json.loads(arguments.json.read_text())["results"]
    if earlier["settings"] != json.loads(json.dumps(settings)):
        raise SystemExit(f"{arguments.json} was computed with {earlier['settings']}")
    return earlier["sets"]


def _finite(value):
    """The value with NaN and infinities as null, which JSON has no words for."""
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
