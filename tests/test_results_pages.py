"""Numbers in the tables of docs/results are those of the files in benchmarks/results.

`results_tables.TABLES` names, for each table of a page in order, the files behind it and the part of them it
shows, or the reason why there is no file. A number is looked up in that part, narrowed down by the labels
of its row and column where those are names in the file. It may be a number of the file; a mean, median,
deviation, standard error, sum, largest value or count over sets, folds or seeds; a mean rank; or, where the entry
says so, a ratio of two numbers of the part.
"""

import itertools
import json
import math
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from results_tables import TABLES
from scipy.stats import rankdata

ROOT = Path(__file__).resolve().parent.parent
NUMBER = re.compile(r"(?<![\w.^])[-+]?(?:\d[\d,]*)?\.?\d+(?!\w)")
SCALES = (1, 100, 1e3, 1e6, 1e9, 2**-10, 2**-20)  # per cent, ms, us, ns, KiB, MiB
SETTINGS = ("n", "d", "depth", "threads", "gamma", "rounds")  # that tell records of a list apart


def name_of(label):
    """A label without its markup and remarks in brackets."""
    return re.sub(r"[*`]|\(.*?\)|^- ", "", label).replace("_", " ").strip().removeprefix("pmlb ")


def names_of(record):
    texts = [name_of(value) for value in record.values() if isinstance(value, str)]
    return "|".join(texts + [f"{key}={record[key]:g}" for key in SETTINGS
                             if isinstance(record.get(key), (int, float))])


def values(entry, path=()):
    """Pairs of path and number."""
    if isinstance(entry, dict):
        if "truth" in entry:
            entry = {**entry, "bias": entry["importance"] - entry["truth"]}
        for key, below in entry.items():
            if isinstance(below, str) and below.startswith("{"):  # a result on one line
                yield from values(json.loads(below), (*path, *map(name_of, key.split())))
            else:
                yield from values(below, (*path, *map(name_of, key.split("/"))))
    elif isinstance(entry, list) and 1 < len(entry) <= 5 and isinstance(entry[0], float):  # folds
        yield (*path, "mean"), float(np.mean(entry))
        yield (*path, "deviation"), float(np.std(entry))
    elif isinstance(entry, list):
        for index, below in enumerate(entry):
            named = names_of(below) if isinstance(below, dict) else str(index)
            yield from values(below, (*path, named))
    elif isinstance(entry, (int, float)) and math.isfinite(entry):
        yield path, float(entry)


def statistics(pairs):
    """The numbers themselves, and statistics over one or two places of their paths."""
    groups = defaultdict(list)
    for path, value in pairs:
        for size in (1, 2):
            for places in itertools.combinations(range(len(path)), size):
                group = tuple("*" if i in places else name for i, name in enumerate(path))
                groups[group].append(value)
    found = list(pairs)
    for path, group in groups.items():
        if len(group) > 1:
            size, mean = len(group), sum(group) / len(group)
            squares = sum((value - mean) ** 2 for value in group)
            found += [(path, value) for value in (
                mean, sorted(group)[size // 2], math.sqrt(squares / size),
                math.sqrt(squares / (size - 1) / size), sum(group), max(group), size)]
    return found


def ranks(results):
    """Mean ranks, and on how many sets a program is better than CatBoost, from the means over folds."""
    tables = [entry["cells"] for entry in results.values() if isinstance(entry, dict) and "cells" in entry]
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


class Source:
    """The numbers in some files, by the names on their paths."""

    def __init__(self, files):
        self.values, self.parts = [], {}
        for file in files.split():
            path = ROOT / "benchmarks" / "results" / file
            if path.suffix == ".md":
                pairs = [((name_of(row[0]),), number(text)[0]) for _, rows in tables(path)
                         for row in rows for cell in row[1:] for text in NUMBER.findall(cell)]
            else:
                document = json.loads(path.read_text())
                results = document.get("results", document)
                pairs = statistics(list(values(results))) + list(ranks(results))
            self.values += [({name for place in path for name in place.split("|")}, value)
                            for path, value in pairs]
        self.index = defaultdict(set)
        for position, (names, _) in enumerate(self.values):
            for name in names:
                self.index[name].add(position)

    def part(self, names):
        names = frozenset(names)
        if names not in self.parts:
            positions = set.intersection(*(self.index.get(name, set()) for name in names)) if names else (
                range(len(self.values)))
            self.parts[names] = np.sort([self.values[position][1] for position in positions])
        return self.parts[names]

    def names_for(self, label, aliases, corner):
        if name_of(label) in aliases:
            return aliases[name_of(label)].split("|")
        candidates = (f"{corner}={name_of(label)}", name_of(label))
        return [name for name in candidates if name and name in self.index][:1]


def tables(path):
    """Header and rows of each table of a page."""
    rows = []
    for line in [*path.read_text().splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            yield rows[0], rows[2:]
            rows = []


def number(text):
    """A printed number, and half a unit of its last digit."""
    digits = text.replace(",", "")
    return float(digits), 0.501 * 10.0 ** -len(digits.partition(".")[2])


def holds(part, printed, half):
    for scale in SCALES:
        index = np.searchsorted(part, (printed - half) / scale)
        if index < len(part) and part[index] <= (printed + half) / scale:
            return True
    return False


def holds_ratio(part, printed, half):
    part = part[part > 0]
    for value in part:
        index = np.searchsorted(part, value * max(printed - half, 0))
        if index < len(part) and part[index] <= value * (printed + half):
            return True
    return False


def missing(entry, header, rows, sources):
    """Cells of a table with a number that is not in its part of the files."""
    files, where, *rest = entry
    aliases = dict(rest[0]) if rest else {}
    without_file = aliases.pop("without file", ())
    ratios = aliases.pop("ratios", ())
    source = sources.setdefault(files, None) or Source(files)
    sources[files] = source
    for row in rows:
        if name_of(row[0]) in without_file:
            continue
        of_row = source.names_for(row[0], aliases, name_of(header[0]))
        for label, cell in zip(header[1:], row[1:], strict=True):
            if name_of(label) in without_file:
                continue
            of_column = source.names_for(label, aliases, "")
            part = source.part({*where, *of_row, *of_column})
            for text in NUMBER.findall(re.sub(r"\(.*?\)| of \d+", "", cell)):
                printed, half = number(text)
                may_be_ratio = name_of(label) in ratios or name_of(row[0]) in ratios
                if not holds(part, printed, half) and not (may_be_ratio and holds_ratio(part, printed, half)):
                    yield f"{row[0]}, {label}: {text}"


@pytest.mark.parametrize("page", sorted(path.stem for path in (ROOT / "docs" / "results").glob("*.md")
                                        if path.stem != "index"))
def test_numbers_are_in_the_files(page):
    found = list(tables(ROOT / "docs" / "results" / f"{page}.md"))
    sources, wrong = {}, []
    assert len(found) == len(TABLES[page])
    for entry, (header, rows) in zip(TABLES[page], found, strict=True):
        if not isinstance(entry, str):
            wrong += missing(entry, header, rows, sources)
    assert not wrong, "\n".join(wrong)


def test_a_wrong_number_is_found():
    entry = ("boosting_real_data.json", ("regression, alike",))
    header = ["", "mean rank"]
    assert not list(missing(entry, header, [["fctree", "1.46"]], {}))
    assert list(missing(entry, header, [["fctree", "1.47"], ["CatBoost", "1.46"]], {}))
