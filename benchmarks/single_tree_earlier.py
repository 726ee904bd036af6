"""Results of `bench_single_trees.py` of programs that are not run again, from an earlier file.

A result has each program's score by set and budget, which is all that ranks, means and the best of a set need. The choice without
indices in the count is not among them.
"""

from single_tree_programs import OWN


def with_earlier(by_set, earlier, label):
    """{set: {program: {budget: score}}}, with the scores of an earlier result of programs without new ones."""
    run = set.union(*map(set, by_set.values()))
    if run & {*OWN} and not run.issuperset(OWN):
        raise SystemExit("all variants of curvature trees have to be run: the program's score is of a choice among them")
    if by_set.keys() != earlier["sets"].keys():
        raise SystemExit("the earlier result has other sets")
    found = {}
    for name, new in by_set.items():
        kept = {program: {int(budget): score for budget, score in of.items()}
                for program, of in earlier["sets"][name][label].items() if program not in run}
        found[name] = dict(sorted({**kept, **new}.items()))
    return found


def keep_facts(results, earlier):
    """Name the programs that were not run, and give them the settings, failures and mean accuracy of the earlier result."""
    results["kept"] = sorted(earlier["settings"].keys() - results["settings"].keys())
    for part in ("settings", "without an answer"):
        results[part] = {**earlier[part], **results[part]}
    for budget, of in results.get("accuracy", {}).items():
        kept = {program: {"mean accuracy": facts["mean accuracy"]}
                for program, facts in earlier["accuracy"][budget].items()}
        results["accuracy"][budget] = {**kept, **of}
