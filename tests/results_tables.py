"""The files behind each table of docs/results, in the order of the pages.

An entry is (files, names that the numbers' paths have in common, what the table's labels stand for), or the reason why there is
no file. A label stands for names joined by "|", among them a file's and those of `test_results_pages.STATISTICS`; "a / b" is a
quotient, "a ± b" are the first and the second number of a cell, "" is a label that says nothing. In "a: b", the label b is of the group
a, as are those after it. `without file`: columns or rows whose numbers no file has; `labels`: how many
columns are labels; `a unit for each row`: instead of each column.
"""

PROTOTYPE = "measured once, on prototypes; the page says so"
ENSEMBLES = {
    "fctree boosting, 100 trees at .1": "fctree boosting, 100 trees", "HistGradient-Boosting": "HistGradientBoosting",
    "tree NTK, chosen by leave-one-out": "tree NTK", "symmetric boosting": "fctree symmetric",
    "mean R²": "mean", "better than CatBoost on": "better", "rows": "n", "log-loss": "log loss",
    "10,000 rows": "ensembles_real_data.json", "1,500 rows": "ensembles_real_data_small.json",
}
TREES = {
    label: f"{program}|r2|mean of folds" for label, program in (
        ("curvature, α 1", "curvature tree"), ('curvature, α "loo"', "curvature tree, alpha loo"), ("FC-ODT", "FC-ODT"),
        ("no concatenation", "FC-ODT, no concatenation"), ("linear-tree", "linear-tree + Ridge"), ("HRT, as in its script",) * 2,
        ("CART", "CART"), ("treeple", "treeple oblique tree"), ("Ridge", "Ridge"), ("boosting, tuned", "HistGradientBoosting, tuned"))
}
EQUAL_DEPTH = {
    "linear-tree": "linear-tree + Ridge", "treeple": "treeple oblique tree",
    **{f"depth {depth}": f"{task}, depth {depth}"
       for task, depths in (("regression", (2, 4, 6)), ("classification", (3, 5))) for depth in depths},
}
OBLIQUE_GRID = {
    **{label: f"{program}|fit|median s ± {program}|error" for label, program in (
        ("FC-ODT", "FC-ODT"), ("no concatenation", "FC-ODT, no concatenation"), ("constant leaves", "FC-ODT, constant leaves"),
        ("literal NumPy", "literal NumPy FC-ODT"), ("CART", "CART"), ("treeple", "treeple oblique tree"),
        ("YDF sparse oblique", "YDF sparse oblique tree"))},
    **{f"{n:,} x {d}, depth {depth}": f"n={n}|d={d}|depth={depth}"
       for n in (2000, 20_000, 100_000) for d in (10, 50, 100) for depth in (2, 4, 8)},
}
CLASSIFICATION = {
    **{label: f"{program}|score" for label, program in (
        ("curvature, depth 0", "curvature tree 0"), *((f"{depth}", f"curvature tree {depth}") for depth in (1, 3, 5)),
        ("FC-ODT, 3", "FC-ODT as published 3"), ("CART, 5", "CART 5"), ("treeple, 5", "treeple oblique tree 5"),
        ("YDF, 5", "YDF sparse oblique tree 5"), ("obliquetree, 5", "obliquetree 5"), ("logistic", "logistic regression"),
        ("boosting", "HistGradientBoosting"))},
}
METHODS = {"retraining": "retrain"}
IMPORTANCES = {name: f"{METHODS.get(name, name)}|importance|mean" for name in ("early stopping", "retraining", "dropout")}
TREE_SCALES = {
    "perfect trees, scale 0.5": "tntk 0.5", **{f"{2**k}": f"tntk {2**k}" for k in range(7)},
    "rectifier network": "relu ntk", "rectifier network, halved": "relu ntk, halved", "Gaussian kernel": "rbf",
}
CORRELATIONS = {"0": "0.0", ".2": "0.2", ".5": "0.5", ".8": "0.8", "1": "1.0"}
AT_CORRELATIONS = {f"{letter} = {label}": name for letter in ("ρ", "rho") for label, name in CORRELATIONS.items()}
WIDE_NETWORK = {
    **IMPORTANCES, **AT_CORRELATIONS, "deviation": "early stopping|importance|deviation", "stderr": "early stopping|stderr|mean",
    "covers": "early stopping|covers|mean", "epochs": "early stopping|n iter|mean", "epochs, retraining": "retrain|n iter|mean",
    "epochs, full model": "early stopping|full n iter|mean", "2,048 wide, ρ = .5": "3 layers|0.5",
    **{f"512 wide, ρ = {label}": f"3 layers of 512|{name}" for label, name in CORRELATIONS.items()},
}
BEST = {"best on": "wins", "/ CatBoost": "ratio", "/ CatBoost, median": "median", "clearly better, worse": "better ± worse",
        "seconds for all fits": "fit s"}
NO_CATBOOST = ("CatBoost, early stopping", "CatBoost, retraining")

INTERVALS = {
    "labels": 2, "level": "",
    "coverage less level": "mean gap", "smallest": "least gap", "tables below -.01": "n short",
    "width / ten-fold": "width ratio", "time / ten-fold": "time ratio",
}
SIMULATED = {f"simulated: {name}": f"drawn: {name}" for name in (
    "many levels", "two categories interact", "slopes", "drift", "noise", "houses")}


def mean_and_error(*programs):
    return {program: f"{program}|mean ± {program}|standard error" for program in programs}


TABLES = {
    "attributions": [
        ("bench_shap.json", ("peers",), {"us per row": "us per row"}),
        ("bench_shap.json", ("oblique", "ms per row")),
    ],
    "boosting": [
        ("bench_boosting_train.json bench_boosting_train.md", (), {
            "20,000 x 20, 200 rounds": "n=20000", "100,000 x 50, 200": "n=100000", "1,000,000 x 28, 50": "n=1000000",
            **{label: f"{two}|{program}|best s ± {two}|{program}|{error}"
               for file, error, programs in (("json", "rmse", ("fctree", "CatBoost", "LightGBM")),
                                             ("md", "test RMSE", ("XGBoost hist", "HistGradientBoosting")))
               for two in (f"bench_boosting_train.{file}|float64|threads=2",)
               for program in programs for label in (program.replace(" ", ", "),)},
            **{label: " / ".join(f"bench_boosting_train.json|best s|{case}|{program}" for program in ("CatBoost", ours))
               for label, case, ours in (
                   ("CatBoost / fctree, 2 threads", "float64|threads=2", "fctree"), ("float32 input", "float32", "fctree"),
                   ("1 thread", "float64|threads=1", "fctree"), ("without noise", "float64|threads=2", "fctree, no noise"))}}),
        *(("boosting_error_over_time.json", (size, "least"),
           {"XGBoost, hist": "XGBoost hist", "curvature boosting": "fctree, curvature"}) for size in ("100,000 x 50", "1,000,000 x 28")),
        ("bench_threads.json", ("seconds",), {
            **{f"{size}, {rounds} rounds": f"fit, {size}, {rounds} rounds" for size, rounds in (("100,000 x 50", 100), ("1,000,000 x 28", 50))},
            "1 thread": "1", "XGBoost, hist": "XGBoost hist"}),
        ("bench_threads.json", ("seconds", "fctree"), {
            **{label: f"fit, {label}" for label in (
                "curvature boosting, 20,000 x 20, 100 rounds", "curvature boosting, 300,000 x 28, 10 rounds",
                "curvature forest, 20,000 x 20, 100 trees of depth 3")},
            "1 thread": "1"}),
        ("bench_threads.json", ("prediction, 100,000 x 28, 100 rounds",), {
            "1 thread": "1", "XGBoost, hist": "XGBoost hist", "symmetric boosting": "fctree", "curvature boosting": "fctree, curvature boosting"}),
        ("parallelism.json", ("efficiency",), {
            "symmetric boosting, 1,000,000 x 28, 50 rounds": "symmetric boosting, 1,000,000 x 28",
            "symmetric boosting, 100,000 x 50, 100 rounds": "symmetric boosting, 100,000 x 50",
            "curvature boosting, 20,000 x 20, 30 rounds": "curvature boosting, 20,000 x 20",
            "curvature boosting, 300,000 x 28, 50 rounds": "curvature boosting, 300,000 x 28",
            "curvature forest, 20,000 x 20, 100 trees of depth 3": "curvature forest, 20,000 x 20",
            "2 threads": "2"}),
        ("bench_boosting_predict.json", ("best ns",), {
            **{f"{dtype}, {n} thread{'s'[:n - 1]}": f"{dtype}|threads={n}" for dtype in ("float64", "float32") for n in (1, 2)},
            "without file": ("XGBoost", "LightGBM", "HistGradientBoosting")}),
        "peak memory, printed by benchmarks/bench_boosting.py",
        ("boosting_real_data.json", ("regression, alike",), BEST),
        ("boosting_real_data.json", ("classification, alike",), BEST),
        ("boosting_real_data_tuned.json", ("regression, tuned",), BEST),
        ("boosting_real_data_tuned_classification.json", ("classification, tuned",), BEST),
    ],
    "ensemble_choices": [
        ("bench_learning_rate.json", (), {
            "1,000 rows at most": "1,000 rows", "more, 5,000 at most": "5,000 rows", "more, 20,000 at most": "20,000 rows",
            "simulated, 5,000": "drawn", "log-loss": "classification|geometric mean", "RMSE": "regression|geometric mean",
            "sets, classes": "classification|sets", "sets, regression": "regression|sets", **{
                f"better, worse{suffix}": f"{kind}|better by over 1 % ± {kind}|worse by over 1 %"
                for kind, suffix in (("classification", ""), ("regression", ", regression"))}}),
        ("bench_few_rows.json", ()),
        *(("bench_unequal_weights.json", (kind,)) for kind in ("classes", "regression")),
        ("bench_skewed_features.json", ()),
    ],
    "ensembles": [
        ("bench_ensembles.json", (), {
            "sim1": "sim1, 2000 x 10", "sim2": "sim2, 2000 x 10", "sim1, 20,000 x 20": "sim1, 20000 x 20", "fit": "fit|cpu s",
            "predict a row": "predict row s", "symmetric boosting": "fctree symmetric", "of depth 2": "fctree boosting, depth 2",
            "without step trees": "fctree boosting, no step trees", "100 trees": "fctree boosting, 100 trees"}),
        ("bench_ensembles.json", (), {"depth 3": "equal trees, depth 3", "depth 5": "equal trees, depth 5", "fit": "fit|cpu s",
            "fctree forest, the paper's splits, constant leaves": "fctree forest, paper's splits, constant leaves"}),
        "one fold each, timed once",
        ("bench_ensembles.json", ("growth",), {
            "measured": "cpu s", "by the formula": "formula", "n = 8,000": "n=8000 / n=2000", "n = 32,000": "n=32000 / n=2000",
            "d = 20": "d=20 / n=2000", "d = 40": "d=40 / n=2000", "depth 2, 4": "depth=2 / n=2000 ± depth=4 / n=2000",
            "100, 200 trees": "trees=100 / n=2000 ± trees=200 / n=2000"}),
        ("ensembles_real_data.json ensembles_real_data_small.json", ("r2",), ENSEMBLES),
        ("ensembles_real_data.json", ("r2", "mean of folds"), ENSEMBLES),
        ("ensembles_all_rows.json", (), {**ENSEMBLES, **{name: f"{ENSEMBLES.get(name, name)}|r2|mean of folds" for name in (
            "fctree boosting", "fctree boosting, 100 trees at .1", "CatBoost", "XGBoost", "LightGBM", "HistGradient-Boosting")}}),
        ("ensembles_tuned.json", ("r2",), ENSEMBLES),
        ("bench_curved_sums.json", ("R2",), {"labels": 2}),
        ("ensembles_classification.json", (), ENSEMBLES),
        ("ensembles_classification.json", ("mean of folds",), {**ENSEMBLES, "fctree": "fctree boosting"}),
    ],
    "fcodt": [
        ("bench_oblique.json", ("sim1",), {
            "fit": "fit|median s", "/ X.T @ X": "fit over gram", "error against f": "error",
            "FC-ODT, 100,000 x 50, depth 6": "FC-ODT|n=100000", "FC-ODT, 20,000 x 50, depth 6": "FC-ODT|n=20000|depth=6",
            "treeple's oblique tree, the same depth": "treeple oblique tree|n=20000",
            **{label: f"{program}|n=100000" for label, program in (
                ("one thread", "FC-ODT, 1 thread"), ("without concatenation", "FC-ODT, no concatenation"),
                ("constant leaves", "FC-ODT, constant leaves"), ("the literal algorithm in NumPy", "literal NumPy FC-ODT"))}}),
        ("bench_oblique.json", (), {
            "labels": 2, "treeple's oblique tree": "", "linear-tree with Ridge": "",
            "sim1, 20,000 x 50, depth 6": "treeple oblique tree sim1 20000 x 50", "sim2": "treeple oblique tree sim2 20000 x 50",
            "sim1, 2,000 x 10, depth 4": "linear-tree + Ridge sim1 2000 x 10", "sim2, 2,000 x 10, depth 4": "linear-tree + Ridge sim2 2000 x 10",
            "sim1, 20,000 x 50, depth 2": "linear-tree + Ridge sim1 20000 x 50",
            "times as fast to fit": "fit|median s / fit|median s|FC-ODT", "error, ours / theirs": "FC-ODT|error ± error"}),
        ("bench_oblique_grid.json", ("sim1",), OBLIQUE_GRID),
        ("oblique_real_data.json", ("concatenation",)),
        ("oblique_real_data.json", ("r2", "mean"), {  # on the page HRT's R² of a set is -1 at least
            "without file": ("HRT", "Ridge", "HistGradientBoosting, tuned")}),
        ("oblique_real_data.json", ("sets",), TREES),
        ("oblique_equal_depth.json", (), EQUAL_DEPTH),
        ("oblique_equal_depth.json", (), {**EQUAL_DEPTH, "FC-ODT": "FC-ODT as published"}),
        ("bench_curvature.json", ("errors",), {
            "depth 1": "1", "CatBoost, 200 trees of depth 6": "CatBoost depth 6, 200 trees",
            "LightGBM, linear leaves, 500 trees": "LightGBM linear leaves, 500"}),
        ("bench_curvature.json", ("speed",), {
            "2,000 x 10, depth 4": "n=2000", "20,000 x 50, depth 4": "n=20000", "100,000 x 20, depth 5": "n=100000",
            "time": "curvature tree|fit|median s",
            "against linear-tree of depth 2": "linear-tree + Ridge, depth 2|fit|median s / curvature tree|fit|median s"
                " ± curvature tree|error ± linear-tree + Ridge, depth 2|error"}),
        ("bench_oblique_grid.json", ("sim1", "error"), {
            **{f"{leaves} leaves, {n:,} x {d}": f"{method}|n={n}|d={d}"
               for leaves, method in (("ridge", "FC-ODT"), ("constant", "FC-ODT, constant leaves"))
               for n, d in ((2000, 10), (20_000, 10), (20_000, 50), (100_000, 50))},
            **{depth: f"depth={depth}" for depth in "123468"}}),
        ("oblique_classification.json", (), CLASSIFICATION),
        "means over 27 of the file's 28 sets: breast cancer is in it twice",
        ("bench_sparse_directions.json", (), {
            **{f"{task}, depth {depth}": f"{names}|{depth}" for depth in (3, 4) for task, names in (
                ("sim1, error", "sim1"), ("sim2, error", "sim2"), ("regression, mean R²", "regression|curvature tree|mean"),
                ("kin8nm alone", "regression|curvature tree|kin8nm"), ("diamonds alone", "regression|curvature tree|diamonds"),
                ("classification, mean AUC or accuracy", "classification|mean"), ("FC-ODT, mean R²", "FC-ODT as published|mean"),
                ("FC-ODT as published, mean R²", "FC-ODT as published|mean"), ("constant leaves", "FC-ODT, constant leaves|mean"))},
            "none": "all", "without file": ("the other 16 sets, depth 4",)}),
        ("bench_soft_finish.json", (), {
            **{f"{depth}": f"depth {depth}" for depth in (4, 5, 6)},
            **{name: f"mean|{name}" for name in ("hard", "soft", "gain", "kept", "seconds")}}),
    ],
    "importance": [
        ("variable_importance.json", ("correlated",), {**IMPORTANCES, **CORRELATIONS, "without file": NO_CATBOOST}),
        ("variable_importance_network.json", (), {
            **IMPORTANCES, **AT_CORRELATIONS, "rounds": "n iter|mean", "early stopping, retraining": "early stopping ± retrain"}),
        ("wide_network_importance.json", ("2 layers",), WIDE_NETWORK),
        ("wide_network_importance.json", ("early stopping",), WIDE_NETWORK),
        ("lazy_importance.json", (), {
            **METHODS, **{f"rho = {label}": f"rho = {name}" for label, name in CORRELATIONS.items()}, "truth": "true",
            "LazyVI": "lazy", "error": "root mean square error", "seconds": "processor seconds"}),
        ("variable_importance.json", ("coverage",), {
            **CORRELATIONS, "labels": 2, "boosting": "boosting|early stopping", "boosting, sample splitting": "splitting",
            "boosting, retraining": "boosting|retrain", "tree kernel": "kernel", "boosting, noisy splits": "noisy",
            "the same, noise begins again": "restarted", "sets": "covers|count",
            **{label: f"{label}|mean" for label in ("bias", "stderr", "covers")}, "deviation": "bias|deviation"}),
        ("variable_importance.json variable_importance_network.json", ("importance", "mean"), {
            **CORRELATIONS, "network, both continued": "network", "network, reduced model only": "network reduced only",
            "boosting, reduced model only": "reduced only", "kernel, reduced model only": "kernel reduced only", "ρ = 0": "0.0"}),
        ("stopping_bound.json", (), {
            "rounds by the theory": "threshold", "best round": "best", "by held-out samples": "held out",
            "by the theory": "error at the threshold", "fresh samples": "fresh error at the threshold",
            "at the best": "error at the best", "held out": "error held out", "exponent of n": "slopes"}),
        ("variable_importance.json", ("wide",), {**IMPORTANCES, "importance of x1": "", "without file": NO_CATBOOST}),
        ("variable_importance.json", ("shapley",), {**METHODS, **{f"x{j}": f"values|x{j}" for j in range(10)}}),
        ("variable_importance.json", ("sampled", "mean"), {
            **METHODS, **{f"x{j}": f"feature {j}" for j in range(1, 6)}, "error, others": "error of the rest", "stderr, others": "stderr of the rest",
            "seconds": "processor seconds", "labels": 2, "without file": ("truth",)}),
        *(("variable_importance.json", ("turbine", target, kind, "mean"), {**METHODS, "stderr": "early stopping|stderr"})
          for target in ("nox", "co") for kind in ("importance", "shapley")),
        ("bench_importance.json", (), {
            **{label: f"{METHODS.get(label, label)}|seconds / early stopping|seconds"
               for label in ("retraining", "dropout", "CatBoost, early stopping")},
            "importances of all 100 features, n = 5,000": "all", "Shapley values, 10 features, 1,024 subsets": "shapley",
            "importances of 6 features, MLPRegressor, n = 2,000": "network", "without file": ("early stopping",)}),
    ],
    "intervals": [
        *(("bench_intervals.json", (part, kind), INTERVALS)
          for part in ("trees", "ensembles") for kind in ("real", "simulated")),
        ("bench_intervals.json", ("cost",), {
            "without, ms": "without", "with, ms": "with", "labels": 2,
            **{f"{n:,} x {d}": f"n={n}|d={d}" for n, d in ((1000, 10), (10_000, 10), (20_000, 50))}}),
        ("bench_intervals.json", ("classification",), {"calibration error": "error"}),
    ],
    "distillation": [
        ("bench_distillation.json", ("mean",), {
            "R²": "score", "leaves": "n leaves"}),
    ],
    "distributed": [
        ("bench_dask.json bench_dask_80_rounds.json", (), {
            "20 rounds": "bench_dask.json", "80 rounds": "bench_dask_80_rounds.json", "two threads, s": "seconds|local",
            "two processes, s": "seconds|dask", "bytes of a round, counted": "bytes of a round", "by the formula": "bytes by formula",
            "without file": ("2 rounds",)}),
        ("bench_dask_oblique.json", (), {
            "the default, 8": "", "two threads, s": "seconds|local", "two processes, s": "seconds|dask",
            "one round on Dask, s": "seconds of one round", "without file": ("without step trees", "step depth=6")}),
    ],
    "export": [
        "maxima and sums over the sets of bench_export_accuracy.json",
        ("bench_export_speed.json", ("speed", "median s"), {"ONNX Runtime": "ONNX float32"}),
    ],
    "memory": [
        PROTOTYPE,
        ("bench_memory_long.json", (), {
            "symmetric boosting": "symmetric boosting", "GB": "extra", "bytes a row": "extra / n",
            **{f"curvature boosting, noise {noise}": f"curvature boosting|noise={noise}" for noise in (0, 1)}}),
    ],
    "one_row": [
        ("bench_one_row.json", (), {
            "regression": "regression: predict",
            **{f"{n} classes": f"{n} classes: predict" for n in (2, 3)},
            **{f"{n} classes, probabilities": f"{n} classes: predict proba" for n in (2, 3)}}),
    ],
    "league": [
        ("league.json", ("losses",)),
        ("league.json", ("all",), {"Elo": "elo", "fit, s": "fit", "predict, ms": "predict"}),
        ("league.json", (), {"regression": "regression|mean rank", "two classes": "binary|mean rank", "more classes": "multiclass|mean rank"}),
        ("league_5000_rows.json", ("all",), {"Elo": "elo", "fit, s": "fit", "predict, ms": "predict"}),
        ("league_5000_rows.json", ("losses",)),
        ("league_vote.json", ("all",), {"Elo": "elo", "fit, s": "fit", "predict, ms": "predict"}),
        ("league_five_folds.json", ("all",), {"Elo": "elo", "fit, s": "fit", "predict, ms": "predict"}),
        ("league_five_folds.json", ("losses",)),
        ("league_large.json", ("errors",)),
        ("league_small_sets.json", ("all",), {"Elo": "elo", "fit, s": "fit", "predict, ms": "predict"}),
        ("league_small_sets.json", ("losses",)),
        ("league_plants.json", ("errors",)),
        ("league_tuned.json", ("all",), {"Elo": "elo", "fit, s": "fit", "predict, ms": "predict"}),
        ("league_tuned_small.json", ("all",), {"Elo": "elo", "fit, s": "fit", "predict, ms": "predict"}),
    ],
    "wide_tables": [
        ("bench_fewer_samples.json", (), {"labels": 2}),
        ("bench_fewer_samples.json", ("seconds",)),
        *(("bench_many_relevant.json", (part,), {"labels": 2}) for part in ("R2", "seconds")),
        ("many_classes.json", (), {
            program: f"{program}|log-loss" for program in (
                "curvature boosting", "curvature forest", "CatBoost", "LightGBM", "random forest")}),
    ],
    "single_trees": [
        ("single_trees.json", ("sets",)),
        ("single_trees.json", ("regression", "mean rank")),
        ("single_trees.json", ("regression", "mean R2")),
        ("single_trees.json", ("regression", "curvature trees better")),
        ("single_trees.json", ("alone", "mean R2")),
        ("single_trees_classes.json", ("sets",)),
        ("single_trees_classes.json", ("classes", "mean rank")),
        ("single_trees_classes.json", ("classes", "mean log-loss")),
        ("single_trees_classes.json", ("accuracy", "mean accuracy")),
        ("single_trees_classes.json", ("classes", "curvature trees better")),
        ("single_trees_classes.json", ("alone", "mean log-loss")),
    ],
    "soft_trees": [
        ("bench_soft.json", ("passes", "both s"), {
            "conditional, γ = 1": "conditional, gamma 1.0", "conditional, γ = 0.1": "conditional, gamma 0.1",
            "dense, logistic": "dense logistic", "torch": "torch product", "γ = 0.1": "torch product / conditional, gamma 0.1",
            "torch / conditional, γ = 1": "torch product / conditional, gamma 1.0"}),
        ("bench_soft.json", ("training",), {
            **{f"γ = {gamma}{rows}": f"gamma {gamma}{rows}" for gamma in ("1", "0.1") for rows in ("", ", all rows updated")},
            "first": "first s", "last": "last s", "without file": ("leaves at depth 10",)}),
        ("bench_soft.json", ("inference",), {
            "labels": 2, "γ": "gamma", "soft, ms": "soft", "hard, ms": "hard", "ratio": "soft / hard", "leaves reached": "reached"}),
        ("bench_soft.json", ("memory",), {
            "γ = 1, KiB": "conditional|gamma=1|bytes", "γ = 0.1, KiB": "conditional|gamma=0.1|bytes", "dense, KiB": "dense|bytes",
            "bytes a reached leaf": "conditional|gamma=1|bytes a leaf"}),
        ("soft_tree_defaults.json", ()),
        ("soft_tree_defaults.json", ()),
        PROTOTYPE,
        ("tree_ensemble_layer.json", ("models", "auc"), {
            **mean_and_error("soft trees", "boosting", "logistic regression", "CART"), "splits": "soft trees|count",
            "without file": ("paper's TEL",)}),
        ("tree_ensemble_layer.json", ("trees", "auc", "mean ± standard error"), {
            "labels": 2, "soft trees, depth 4": "soft trees", "boosting, depth 6": "boosting"}),
        ("tree_layer_training_time.json", (), {
            "smooth step": "smooth step|seconds", "logistic": "logistic|seconds", "ratio": "logistic|seconds / smooth step|seconds",
            "leaves reached": "smooth step|reached", "smooth step, loss": "smooth step|loss", "logistic, loss": "logistic|loss"}),
        "printed by examples/soft_tree_digits.py",
    ],
    "tables": [
        ("bench_tables.json", ("accuracy",), SIMULATED),
        "the encoder without the rule, which a released version cannot be asked for",
        "the same of indicators beside statistics",
        ("bench_tables_more.json", ("accuracy",), {}),
    ],
    "tree_ntk": [
        ("bench_gram.json", ("grid", "n=5000"), {
            **{f"{d}": f"d={d}" for d in (10, 20, 50, 100)}, "tree ntk": "seconds|fctree", "the product alone": "seconds|product X @ Z.T",
            "torch.compile": "seconds|torch.compile", "numba": "seconds|numba", "NumPy, tuned in place": "seconds|numpy, tuned",
            "NumPy, plain": "seconds|numpy, plain", "fctree / product": "over floor", "fastest peer / fctree": "peer over fctree",
            "a unit for each row": True}),
        ("bench_gram_cuda.json", ("grid",), {
            **{f"{dtype}: {d}": f"{dtype}|d={d}" for dtype in ("float32", "float64") for d in (10,)}, "100": "d=100", "784": "d=784",
            "tree ntk": "seconds|fctree", "the product alone, by torch": "seconds|product alone", "torch.compile": "seconds|torch.compile",
            "jax": "seconds|jax", "CuPy, one fused kernel after the product": "seconds|cupy", "torch, eager": "seconds|torch",
            "fastest peer / fctree": "peer over fctree", "lower bound": "floor", "lower bound / fctree": "share of floor",
            "a unit for each row": True}),
        ("bench_nystrom.json", ("large",), {"MSE against the truth": "mse", "peak, GiB": "peak GiB"}),
        ("bench_nystrom.json", ("landmarks",), {
            "error / exact": "error ratio", "uniform landmarks' error / exact": "uniform error ratio",
            **{f"{kind}, {m:,}": f"{kind}|landmarks={m}" for kind in ("normal", "clumped") for m in (1000, 5000)}}),
        PROTOTYPE,
        ("bench_feature_learning.json", (), {"learned, 16 settings": "small"}),
        ("tree_ntk_tables.json", ("learned",), {
            "learned features": "learned", "the same without": "plain",
            "rectifier network, chosen alike": "relu ntk, chosen alike",
            **{f"the paper's trees, scale {scale}": f"paper, tntk {scale}" for scale in (8, 32)},
            "the paper's rectifier network": "paper, relu ntk",
            "all": "mean", "ahead": "wins", "equal": "ties", "behind": "losses"}),
        ("tree_ntk_tables.json", ("columns",), {
            **TREE_SCALES, "the paper's digits": "equal", "within one test sample": "within one"}),
        ("tree_ntk_tables.json", ("lists", "p")),
        ("tree_shapes.json", (), {
            "exponent": "slopes", **{f"{m:,}": f"M={m}" for m in (16, 64, 256, 1024, 4096)}}),
    ],
}
