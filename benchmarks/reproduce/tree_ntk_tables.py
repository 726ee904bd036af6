"""Tables from the results of `tree_ntk_uci.py`: what of the papers comes out again, and tests of differences.

    python benchmarks/reproduce/tree_ntk_tables.py --tables FOLDER/paper_tables

  columns   cells of Kanoh and Sugiyama 2022, tables 2 to 4, that are met (needs `--tables`)
  wins      the same, table 1: of the sets where best accuracies over the depths differ, the share where the tree kernel,
            or the Gaussian one, is ahead of the rectifier network's; with `--tables` in the paper's own cells too
  scales    2022, figure 10: Wilcoxon's signed rank test of each pair of scales, depths 3 and 20
  lists     2023, figures 8 and A.1: mean accuracies of perfect trees and decision lists, and the test between them
  boosting  2023, appendix C.2: on how many sets the infinitely deep list is ahead of gradient boosting

Seconds; nothing is computed but the tables.
"""

import argparse
import itertools
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
import pandas as pd
from report import RESULTS, number_text, print_table, write_json
from scipy.stats import wilcoxon
from tree_ntk_uci import DEPTHS, LIST_DEPTHS, LIST_SCALES, SCALES, accuracies

NAME = "tree_ntk_tables"
TESTED_DEPTHS = (3, 20)
LEVEL = 0.05


def column_accuracies(done, experiment, entry_of):
    """Accuracies (sets, settings) of one column; NaN for sets that were not computed."""
    rows = [accuracies(entry, entry_of(entry[experiment])) if experiment in entry else [np.nan]
            for entry in done.values()]
    width = max(map(len, rows))
    return np.array([row if len(row) == width else np.full(width, np.nan) for row in rows])


def columns_of(done):
    """Accuracies (sets, settings) by column of the papers' tables, the rectifier's twice."""
    columns = {f"tntk_{scale}": column_accuracies(done, "perfect", lambda e, s=str(scale): e[s])
               for scale in SCALES}
    columns["relu_ntk"] = column_accuracies(done, "peers", lambda e: e["relu_ntk"])
    columns["relu_ntk, halved"] = column_accuracies(done, "halved", lambda e: e)
    columns["rbf"] = column_accuracies(done, "peers", lambda e: e["rbf"])
    return columns


def met_cells(done, columns, table):
    """Counts by column: cells, equal to the table's digits, within one test sample."""
    n_tested = np.array([entry["n_tested"] for entry in done.values()])
    met = {}
    for name, found in columns.items():
        distance = np.abs(100 * found.max(axis=1) - table.loc[list(done), name.partition(",")[0]])
        met[name] = {"cells": int(distance.notna().sum()), "equal": int(np.sum(distance < 5.1e-4)),
                     "within one": int(np.sum(distance <= 100 / n_tested + 5.1e-4))}
    trees = [met[f"tntk_{scale}"] for scale in SCALES]
    met["all trees"] = {count: sum(cells[count] for cells in trees) for count in trees[0]}
    return met


def win_rate(found, peer):
    """Wins, ties, and the share of wins among the sets that differ."""
    wins, losses, ties = (int(np.sum(compare(found, peer)))
                          for compare in (np.greater, np.less, np.equal))
    return {"wins": wins, "ties": ties, "rate": wins / (wins + losses)}


def win_rates(columns, table):
    """The frequency with which a column is ahead of the rectifier's two, and in the paper's own tables."""
    best = {name: found.max(axis=1) for name, found in columns.items()}
    rates = {}
    for name in (*(f"tntk_{scale}" for scale in SCALES), "rbf"):
        rates[name] = {peer: win_rate(best[name], best[peer]) for peer in ("relu_ntk", "relu_ntk, halved")}
        if table is not None:
            rates[name]["the paper's cells"] = win_rate(table[name], table["relu_ntk"])
    return rates


def p_value(a, b):
    return float(wilcoxon(a, b).pvalue) if np.any(a != b) else 1.0


def scale_tests(columns):
    """p-values of each pair of scales, at two depths."""
    return {f"depth {depth}": {
        f"{a}, {b}": p_value(*(columns[f"tntk_{scale}"][:, DEPTHS.index(depth)] for scale in (a, b)))
        for a, b in itertools.combinations(SCALES, 2)} for depth in TESTED_DEPTHS}


def list_tests(done):
    """Mean accuracies of perfect trees and decision lists by scale and depth, and p-values."""
    result = {}
    for scale in LIST_SCALES:
        perfect, lists = (column_accuracies(done, "lists", lambda e, a=a: e[a][str(scale)])
                          for a in ("perfect", "decision_list"))
        result[f"scale {scale}"] = {
            "perfect": dict(zip(map(str, LIST_DEPTHS), perfect.mean(axis=0).tolist(), strict=True)),
            "list": dict(zip((*map(str, LIST_DEPTHS), "infinite"), lists.mean(axis=0).tolist(),
                             strict=True)),
            "p": {str(depth): p_value(perfect[:, at], lists[:, at])
                  for at, depth in enumerate(LIST_DEPTHS)}}
    return result


def boosting_wins(done):
    """Infinitely deep decision lists, scale 4, against gradient boosting: on the sets computed."""
    both = [(accuracies(entry, entry["lists"]["decision_list"]["4"])[-1], entry["boosting"] / entry["n_tested"])
            for entry in done.values() if {"lists", "boosting"} <= set(entry)]
    if not both:
        return {}
    lists, boosting = 100 * np.array(both).T
    gains = np.round(lists - boosting, 9)
    return {"sets": len(both), "list": float(lists.mean()), "boosting": float(boosting.mean()),
            "ahead": int(np.sum(gains > 0)), "equal": int(np.sum(gains == 0)), "behind": int(np.sum(gains < 0)),
            "p": p_value(gains, np.zeros(len(gains)))}


def learned_tests(done, table):
    """Mean accuracies in per cent, and the learned features' wins, ties, losses and p-values, on the sets computed."""
    names = [name for name, entry in done.items() if {"learned", "chosen"} <= set(entry)]
    n_tested = np.array([done[name]["n_tested"] for name in names])
    columns = {kind: [done[name]["learned"][kind] for name in names] for kind in ("learned", "plain")}
    columns["relu_ntk, chosen alike"] = [done[name]["chosen"] for name in names]
    columns = {name: 100 * np.array(hits) / n_tested for name, hits in columns.items()}
    for name in (*(f"tntk_{scale}" for scale in SCALES), "relu_ntk"):
        # The paper's three digits become the share of samples they were rounded from.
        columns[f"paper, {name}"] = 100 * np.round(table.loc[names, name].to_numpy() / 100 * n_tested) / n_tested
    result = {"sets": len(names), "folds with a metric": sum(done[name]["learned"]["kept"] for name in names)}
    by_size = np.argsort(n_tested, kind="stable")
    smaller, larger = by_size[:len(names) // 2], by_size[len(names) // 2:]
    for name, found in columns.items():
        result[name] = {"mean": float(np.mean(found)), "smaller half": float(found[smaller].mean()),
                        "larger half": float(found[larger].mean())}
        if name != "learned":
            gains = np.round(columns["learned"] - found, 9)
            result[name] |= {"wins": int(np.sum(gains > 0)), "ties": int(np.sum(gains == 0)),
                             "losses": int(np.sum(gains < 0)), "smallest": float(gains.min()),
                             "p": p_value(gains, np.zeros(len(gains)))}
    return result


def show(results):
    if "columns" in results:
        print_table("cells of the paper's tables", ("column", "cells", "equal", "within one sample"),
                    [(name, *met.values()) for name, met in results["columns"].items()])
        print_table("learned features: per cent (all, smaller, larger sets); wins, ties, losses, smallest gain, p",
                    ("column", *[""] * 8),
                    [(name, *map(number_text, entry.values()), *[""] * (8 - len(entry)))
                     for name, entry in results["learned"].items() if isinstance(entry, dict)])
    peers = next(iter(results["wins"].values()))
    print_table("ahead of the rectifier's kernel: wins, ties, rate", ("column", *peers),
                [(name, *(f"{r['wins']}, {r['ties']}, {100 * r['rate']:.1f}" for r in rates.values()))
                 for name, rates in results["wins"].items()])
    for depth, tests in results["scales"].items():
        clear = [pair for pair, p in tests.items() if p < LEVEL / len(tests)]
        print(f"\n{depth}: {len(clear)} of {len(tests)} pairs of scales differ (Bonferroni): {clear}")
    for kind in ("perfect", "list", "p"):
        print_table(f"{kind} by scale and depth", ("", *results["lists"]["scale 1"][kind]),
                    [(scale, *entry[kind].values()) for scale, entry in results["lists"].items()])
    print_table("infinitely deep lists against gradient boosting", tuple(results["boosting"]), [tuple(results["boosting"].values())])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", type=Path, help="folder with tntk_uci90.csv; without it no counts of cells")
    parser.add_argument("--results", type=Path, default=RESULTS / "tree_ntk_uci.json")
    parser.add_argument("--json", type=Path, default=RESULTS / f"{NAME}.json")
    arguments = parser.parse_args()
    done = json.loads(arguments.results.read_text())["results"]
    columns = columns_of(done)
    table = None
    if arguments.tables is not None:
        table = pd.read_csv(arguments.tables / "tntk_uci90.csv").set_index("name")
    results = {"wins": win_rates(columns, table), "scales": scale_tests(columns), "lists": list_tests(done),
               "boosting": boosting_wins(done)}
    if table is not None:
        results["columns"] = met_cells(done, columns, table)
        results["learned"] = learned_tests(done, table)
    show(results)
    write_json(arguments.json, NAME, results)


if __name__ == "__main__":
    main()
