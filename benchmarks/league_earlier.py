"""Results of `league.py` of programs that are not run again, from an earlier file.

A result has the errors of default settings as means over the folds, which is all that ratings, ranks and losses
need, so that a program can be added without the records of the others.
"""

from real_data import short_name


def with_earlier(records, earlier, n_folds):
    """The records, and one a fold for each error in an earlier result of a program without records.

    Sets have their short names, as in the result.
    """
    if any(of["failures"] for of in earlier["all"].values()):
        raise SystemExit("an earlier result with failures cannot be extended: it does not tell which sets failed")
    records = [{**record, "set": short_name(record["set"])} for record in records]
    for record in records:
        if record["of"] != earlier["sets"].get(record["set"], record["of"]):
            raise SystemExit(f"the earlier result has other rows of {record['set']}")
    run = {record["program"] for record in records}
    kept = [(name, program, error) for name, errors in earlier["errors"].items()
            for program, error in errors.items() if program not in run]
    return records + [
        {"set": name, "program": program, "setting": "default", "fold": fold, "of": earlier["sets"][name],
         "error": error}
        for name, program, error in kept for fold in range(n_folds)]


def keep_times(results, earlier, run):
    """Give the programs that were not run the times, failures and fits left out of the earlier result."""
    for kind in ("all", "regression", "binary", "multiclass"):
        for program in results[kind].keys() - run:
            results[kind][program].update({key: earlier[kind][program][key]
                                           for key in ("fit", "predict", "failures", "left out")})
