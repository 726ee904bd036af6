"""Numbers in the tables and first sentences of docs/results are those of the files in benchmarks/results.

`results_tables.TABLES` names, for each table of a page in order, the files behind it and the part of them it
shows, or the reason why there is no file. A number is looked up in that part, narrowed down by the labels of its row and
column: those are names in the file, or the entry says what they stand for. All numbers of a column have one unit. A number is one of the
file, or a statistic over one or two places of the paths, where the entry names the statistic: a mean,
deviation, standard error or count over sets, folds or seeds. `PROSE` has numbers outside of tables.
"""

import itertools
import json
import math
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from results_prose import PROSE
from results_tables import TABLES
from scipy.stats import rankdata

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
NUMBER = re.compile(r"(?<![\w.^])[-+]?(?:\d[\d,]*)?\.?\d+(?!\w)")
SCALES = (1, 100, 1e3, 1e6, 1e9, 2**-10, 2**-20, 1e-9)  # per cent, ms, us, ns, KiB, MiB, GB
SETTINGS = ("n", "d", "depth", "threads", "gamma", "rounds", "landmarks", "noise")  # that tell records of a list apart


def deviation(group, fitted=0):
    mean = fmean(group)
    return math.sqrt(sum((value - mean) ** 2 for value in group) / (len(group) - fitted))


STATISTICS = {
    "mean": fmean, "deviation": deviation, "count": len,
    "standard error": lambda group: deviation(group, 1) / math.sqrt(len(group)),
}


def name_of(label):
    """A label without its markup and remarks in brackets."""
    return re.sub(r"[*`]|\(.*?\)|^- ", "", label).replace("_", " ").strip().removeprefix("pmlb ")


def names_of(record):
    texts = [name_of(value) for value in record.values() if isinstance(value, str)]
    return "|".join(texts + [f"{key}={record[key]:.9g}" for key in SETTINGS
                             if isinstance(record.get(key), (int, float))])


def names_of_title(title):
    """The names that a record would have, of a line above a table."""
    found = re.search(r"([\d,]+) x .*(float\d+), threads: (\d+)", title)
    return (f"n={found[1].replace(',', '')}", found[2], f"threads={found[3]}") if found else ()


def values(entry, path=()):
    """Pairs of path and number."""
    if isinstance(entry, dict):
        if "truth" in entry:
            entry = {**entry, "bias": entry["importance"] - entry["truth"]}
        for key, below in entry.items():
            if isinstance(below, str) and below.startswith("{"):  # a result on one line
                yield from values(json.loads(below), (*path, *map(name_of, key.split())))
            elif "names" in entry and isinstance(below, list):
                yield from values(dict(zip(entry["names"], below, strict=True)), (*path, name_of(key)))
            else:
                yield from values(below, (*path, *map(name_of, key.split("/"))))
    elif isinstance(entry, list) and 1 < len(entry) <= 5 and isinstance(entry[0], float):  # folds
        yield (*path, "mean of folds"), float(np.mean(entry))
    elif isinstance(entry, list):
        for index, below in enumerate(entry):
            named = names_of(below) if isinstance(below, dict) else str(index)
            yield from values(below, (*path, named))
    elif isinstance(entry, (int, float)) and math.isfinite(entry):
        yield path, float(entry)


def statistics(name, pairs):
    """A statistic over one or two places of the paths, behind the first: these are "*" in its path."""
    groups = defaultdict(list)
    for path, value in pairs:
        for size in (1, 2):
            for places in itertools.combinations(range(1, len(path)), size):
                groups[tuple("*" if i in places else name for i, name in enumerate(path)),
                       all(path[i].isdigit() for i in places)].append(value)
    for (path, numbered), group in groups.items():
        if len(group) > 1 or numbered and name in ("mean", "count"):  # one split, one seed
            yield path, float(STATISTICS[name](group))


def names_on(path):
    return {name for place in path for name in place.split("|")}


def ranks(results):
    """Mean ranks, and on how many sets a program is better than CatBoost, from the means over folds."""
    entries = results.values() if isinstance(results, dict) else results
    tables = [entry["cells"] for entry in entries if isinstance(entry, dict) and "cells" in entry]
    for score, sign in (("r2", -1), ("accuracy", -1), ("log_loss", 1)):
        cells = [{name: np.mean(program[score]) for name, program in table.items() if score in program}
                 for table in tables]
        cells = [cell for cell in cells if cell]
        programs = sorted(set.intersection(*map(set, cells))) if cells else []
        if "CatBoost" not in programs:
            continue
        losses = sign * np.array([[cell[program] for program in programs] for cell in cells])
        better = losses < losses[:, [programs.index("CatBoost")]] - 1e-6
        mean_ranks = rankdata(losses.round(6), axis=1).mean(axis=0)
        for index, program in enumerate(programs):
            path = (name_of(program), name_of(score))
            yield (*path, "mean rank"), float(mean_ranks[index])
            yield (*path, "better"), float(better[:, index].sum())


def counts(results):
    """On how many of the league's sets a program has a lower error than CatBoost, and of how many."""
    won = defaultdict(list)
    if isinstance(results, dict) and {"errors", "sets"} <= results.keys():
        for name, errors in results["errors"].items():
            kind = "regression" if results["sets"][name]["kind"] == "regression" else "classes"
            for program in errors if "CatBoost" in errors else ():
                won[kind, name_of(program)].append(errors[program] < errors["CatBoost"])
    for path, group in won.items():
        yield (*path, "below CatBoost"), float(sum(group))
        yield (*path, "beside CatBoost"), float(len(group))


def results_of(file):
    document = json.loads((RESULTS / file).read_text())
    return document.get("results", document)


class Source:
    """The numbers in some files, by the names on their paths."""

    def __init__(self, files):
        self.values, self.paths, self.parts = [], {}, {}
        for file in files.split():
            if file.endswith(".md"):
                pairs = [((*names_of_title(title), name_of(row[0]), name_of(label), "file"), number(text)[0])
                         for title, header, rows in tables(RESULTS / file) for row in rows
                         for label, cell in zip(header[1:], row[1:], strict=True) for text in NUMBER.findall(cell)]
            else:
                results = results_of(file)
                pairs = list(values(results))
                self.paths |= {len(self.values) + i: (file, *path) for i, (path, _) in enumerate(pairs)}
                pairs = [((*path, "file"), value) for path, value in [*pairs, *ranks(results), *counts(results)]]
            self.values += [({file, *names_on(path)}, value) for path, value in pairs]
        self.index = defaultdict(set, {name: set() for name in STATISTICS})
        for position, (names, _) in enumerate(self.values):
            for name in names:
                self.index[name].add(position)

    def part(self, names):
        """The numbers whose paths have all names: of the file itself, unless a statistic is among them."""
        asked = names & STATISTICS.keys()
        names = frozenset(names if asked else {*names, "file"})
        if names not in self.parts:
            found = [self.values[position][1] for position in self.positions(names)]
            for statistic in asked:
                others = names - {statistic}
                pairs = [(self.paths[position], self.values[position][1])
                         for position in sorted(self.positions(others) & self.paths.keys())]
                found += [value for path, value in statistics(statistic, pairs) if others <= names_on(path)]
            self.parts[names] = np.sort(found)
        return self.parts[names]

    def positions(self, names):
        return set.intersection(*(self.index.get(name, set()) for name in names)) if names else {*range(len(self.values))}

    def candidates(self, names, index):
        """All that the number at an index of a cell may be; "a / b" are quotients, "a ± b" differ by the index."""
        names = [name.split(" ± ")[min(index, name.count(" ± "))].split(" / ") for name in names]
        top, bottom = ({part for name in names for part in name[end].split("|") if part} for end in (0, -1))
        if top == bottom:
            return self.part(top)
        below = self.part(bottom)
        return np.sort(np.divide.outer(self.part(top), below[below != 0]).ravel())

    def names_for(self, group, label, aliases, corner=""):
        """Names that a label and that of its group stand for; None where the file does not have it."""
        corner = aliases.get(name_of(corner), name_of(corner))
        for text in map(name_of, (group, label) if group else (label,)):
            digits = text.replace(",", "")
            known = (f"{corner}={digits}", text, digits)
            yield aliases[text] if text in aliases else next((name for name in known if not name or name in self.index), None)


@cache
def source_of(files):
    return Source(files)


def tables(path):
    """The line above, header and rows of each table of a page."""
    title, rows = "", []
    for line in [*path.read_text().splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            yield title, rows[0], rows[2:]
            rows = []
        title = line if line and not rows else title


def number(text):
    """A printed number, and half a unit of its last digit (of "3,600" the 6)."""
    digits = text.replace(",", "")
    zeros = len(digits) - len(digits.rstrip("0")) if digits != text else 0
    return float(digits), 0.501 * 10.0 ** (zeros - len(digits.partition(".")[2]))


def grouped(label, group, known):
    """The group and the label of "group: label"; without one the group is the one before."""
    head, colon, tail = label.rpartition(": ")
    return (head, tail) if colon and name_of(label) not in known else (group, label)


def holds(part, text, scale):
    printed, half = number(text)
    index = np.searchsorted(part, (printed - half) / scale)
    return index < len(part) and part[index] <= (printed + half) / scale


def missing(entry, header, rows):
    """Cells of a table with a number that is not in its part of the files."""
    files, where, *rest = entry
    aliases = dict(rest[0]) if rest else {}
    without_file, n_labels, by_row = (aliases.pop(key, none) for key, none in (
        ("without file", ()), ("labels", 1), ("a unit for each row", False)))
    source = source_of(files)
    known = {*aliases, *source.index}
    columns, above = defaultdict(list), [("", "")] * n_labels
    for row in rows:
        above = [grouped(label, group, known) if label else (group, last)
                 for label, (group, last) in zip(row[:n_labels], above, strict=True)]
        of_row = [name for labels, corner in zip(above, header, strict=False)
                  for name in source.names_for(*labels, aliases, corner)]
        group = ""
        for position, cell in enumerate(row[n_labels:], n_labels):
            group, label = grouped(header[position], group, known)
            texts = NUMBER.findall(re.sub(r"\(.*?\)| of \d+", "", cell))
            if not texts or {name_of(text) for text in (label, *itertools.chain(*above))} & {*without_file}:
                continue
            place = f"{above[-1][1]}, {header[position]}"
            names = [*where, *of_row, *source.names_for(group, label, aliases)]
            if None in names:
                yield f"{place}: a label that is no name in the file"
            else:
                for index, text in enumerate(texts):
                    column = (str(above) if by_row else position, index)
                    part = source.candidates(names, index)
                    if not len(part) and n_labels > 1:  # one number for all that the last label tells apart
                        part = source.candidates([name for name in names if name != of_row[-1]], index)
                    columns[column].append((f"{place}: {text}", part, text))
    for cells in columns.values():
        yield from min(([place for place, part, text in cells if not holds(part, text, scale)] for scale in SCALES), key=len)


@pytest.mark.parametrize("page", sorted(path.stem for path in (ROOT / "docs" / "results").glob("*.md")
                                        if path.stem != "index"))
def test_numbers_are_in_the_files(page):
    found = list(tables(ROOT / "docs" / "results" / f"{page}.md"))
    wrong = []
    assert len(found) == len(TABLES[page])
    for entry, (_, header, rows) in zip(TABLES[page], found, strict=True):
        if not isinstance(entry, str):
            wrong += missing(entry, header, rows)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("page", "sentence", "files", "names"), [(*entry[:3], entry[3:]) for entry in PROSE])
def test_numbers_of_sentences(page, sentence, files, names):
    path = ROOT / "README.md" if page == "README" else ROOT / "docs" / "results" / f"{page}.md"
    assert re.sub(r"[][]", "", sentence) in " ".join(path.read_text().split())
    source = source_of(files)
    for text, name in zip(re.findall(r"\[(.*?)\]", sentence), names, strict=True):
        assert any(holds(source.candidates([name], 0), text, scale) for scale in SCALES), f"{text}: {name}"


def test_a_wrong_number_is_found():
    entry = ("boosting_real_data.json", ("regression, alike",))
    header = ["", "mean rank"]
    assert not list(missing(entry, header, [["fctree", "1.46"]]))
    assert list(missing(entry, header, [["fctree", "1.47"], ["CatBoost", "1.46"]]))
