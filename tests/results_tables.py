"""The files behind each table of docs/results, in the order of the pages.

An entry is (files, names that the numbers' paths have in common, names for the table's labels), or the reason why there is
no file. `ratios`: columns or rows that may show ratios; `without file`: columns or rows whose numbers no file has.
"""

PROTOTYPE = "measured once, on prototypes; the page says so"
ENSEMBLES = {
    "fctree boosting, 300": "fctree boosting, 300 trees", "HistGradient-Boosting": "HistGradientBoosting",
    "tree NTK, chosen by leave-one-out": "tree NTK", "symmetric boosting": "fctree symmetric",
    "mean rank, accuracy": "mean rank|accuracy", "mean rank, log-loss": "mean rank|log loss",
    "mean accuracy": "accuracy", "mean log-loss": "log loss",
    "10,000 rows: mean rank": "mean rank", "1,500 rows: mean rank": "mean rank",
    "better than CatBoost on": "better",
}
BY_CLASS = {"accuracy: fctree": "fctree boosting|accuracy", "log-loss: fctree": "fctree boosting|log loss"}
TREES = {
    "curvature, α 1": "curvature tree", 'curvature, α "loo"': "curvature tree, alpha loo",
    "no concatenation": "FC-ODT, no concatenation", "linear-tree": "linear-tree + Ridge",
    "treeple": "treeple oblique tree", "boosting, tuned": "HistGradientBoosting, tuned",
}
EQUAL_DEPTH = {
    "linear-tree": "linear-tree + Ridge", "treeple": "treeple oblique tree",
    **{f"depth {depth}: mean": f"{task}, depth {depth}|mean"
       for task, depths in (("regression", (2, 4, 6)), ("classification", (3, 5))) for depth in depths},
}
METHODS = {"retraining": "retrain"}
TREE_SCALES = {
    "perfect trees, scale 0.5": "tntk 0.5", **{f"{2**k}": f"tntk {2**k}" for k in range(7)},
    "rectifier network": "relu ntk", "rectifier network, halved": "relu ntk, halved", "Gaussian kernel": "rbf",
}
LAZY = {
    "truth": "true", "early stopping": "early stopping|mean", "LazyVI": "lazy", "retraining": "retrain", "dropout": "dropout|mean",
    "error: early stopping": "early stopping|root mean square error",
    "seconds: early stopping": "early stopping|processor seconds",
}
CORRELATIONS = {"0": "0.0", ".2": "0.2", ".5": "0.5", ".8": "0.8", "1": "1.0"}
WIDE_NETWORK = {
    "early stopping": "early stopping|importance", "retraining": "retrain|importance", "dropout": "dropout|importance",
    "deviation": "early stopping|importance", "stderr": "early stopping|stderr", "covers": "early stopping|covers",
    "epochs": "early stopping|n iter", "epochs, retraining": "retrain|n iter", "epochs, full model": "early stopping|full n iter",
    **{f"ρ = {label}": name for label, name in CORRELATIONS.items()},
}
NO_CATBOOST = ("CatBoost, early stopping", "CatBoost, retraining")

INTERVALS = {
    "level": "levels",
    "coverage less level": "mean gap", "smallest": "least gap", "tables below -.01": "n short",
    "width / ten-fold": "width ratio", "time / ten-fold": "time ratio",
}

TABLES = {
    "attributions": [
        ("bench_shap.json", ("peers",), {"us per row": "us per row"}),
        ("bench_shap.json", ("oblique", "ms per row")),
    ],
    "boosting": [
        ("bench_boosting_train.json bench_boosting_train.md", (), {
            "XGBoost, hist": "XGBoost hist",
            "ratios": ("CatBoost / fctree, 2 threads", "float32 input", "1 thread", "without noise")}),
        ("parallelism.json", ("efficiency",), {
            "symmetric boosting, 1,000,000 x 28, 50 rounds": "symmetric boosting, 1,000,000 x 28",
            "symmetric boosting, 100,000 x 50, 100 rounds": "symmetric boosting, 100,000 x 50",
            "curvature boosting, 20,000 x 20, 10 rounds": "curvature boosting, 20,000 x 20",
            "curvature boosting, 300,000 x 28, 3 rounds": "curvature boosting, 300,000 x 28",
            "curvature forest, 20,000 x 20, 100 trees of depth 3": "curvature forest, 20,000 x 20",
            "2 threads": "2"}),
        ("bench_boosting_predict.json", (), {
            "without file": ("XGBoost", "LightGBM", "HistGradientBoosting", "one row")}),
        "peak memory, printed by benchmarks/bench_boosting.py",
        ("boosting_real_data.json", ("regression, alike",)),
        ("boosting_real_data.json", ("classification, alike",)),
        ("boosting_real_data_tuned.json", ("regression, tuned",)),
        ("boosting_real_data_tuned_classification.json", ("classification, tuned",)),
    ],
    "ensembles": [
        ("bench_ensembles.json", ()),
        ("bench_ensembles.json", ()),
        "one fold each, timed once",
        "steps of the past, timed once",
        ("bench_ensembles.json", ("growth",), {"ratios": ("measured", "by the formula")}),
        ("ensembles_real_data.json ensembles_real_data_small.json", ("r2",), ENSEMBLES),
        ("ensembles_real_data.json", ("r2",), ENSEMBLES),
        PROTOTYPE,
        ("ensembles_all_rows.json", (), ENSEMBLES),
        ("ensembles_tuned.json", ("r2",), ENSEMBLES),
        ("ensembles_classification.json", (), ENSEMBLES),
        ("ensembles_classification.json", (), BY_CLASS),
        ("ensembles_tuned_classification.json", (), ENSEMBLES),
        PROTOTYPE,
    ],
    "fcodt": [
        ("bench_oblique.json", ()),
        ("bench_oblique.json", (), {"without file": ("case",)}),
        ("bench_oblique_grid.json", ("sim1",)),
        ("oblique_real_data.json", ("concatenation",)),
        ("oblique_real_data.json", ("r2",), {"without file": ("Ridge", "HistGradientBoosting, tuned")}),
        ("oblique_real_data.json", ("sets",), TREES),
        ("oblique_equal_depth.json", (), EQUAL_DEPTH),
        ("oblique_equal_depth.json", (), {**EQUAL_DEPTH, "FC-ODT": "FC-ODT as published"}),
        ("bench_curvature.json", ("errors",)),
        ("bench_curvature.json", ("speed",), {"ratios": ("",), "without file": ("goal",)}),
        ("bench_oblique_grid.json", ("sim1", "error"), {
            **{f"{leaves} leaves, {n:,} x {d}": f"{method}|n={n}|d={d}"
               for leaves, method in (("ridge", "FC-ODT"), ("constant", "FC-ODT, constant leaves"))
               for n, d in ((2000, 10), (20_000, 10), (20_000, 50), (100_000, 50))},
            **{depth: f"depth={depth}" for depth in "123468"}}),
        ("oblique_classification.json", ()),
        "means over 27 of the file's 28 sets: breast cancer is in it twice",
        ("bench_sparse_directions.json", (), {"without file": ("the other 16 sets, depth 4",)}),
        ("bench_soft_finish.json", ()),
        PROTOTYPE,
        PROTOTYPE,
        "the calibration of probabilities: measured once, the page says so",
    ],
    "importance": [
        ("variable_importance.json", ("correlated",), {
            **METHODS, **CORRELATIONS, "without file": NO_CATBOOST}),
        ("variable_importance_network.json", (), {
            **METHODS, **{f"rho = {label}": name for label, name in CORRELATIONS.items()}}),
        ("wide_network_importance.json", ("2 layers",), WIDE_NETWORK),
        ("wide_network_importance.json", ("early stopping",), {
            **WIDE_NETWORK, "early stopping": "importance", "2,048 wide, ρ = .5": "3 layers|0.5",
            **{f"512 wide, ρ = {label}": f"3 layers of 512|{name}" for label, name in CORRELATIONS.items()}}),
        ("lazy_importance.json", (), LAZY),
        ("variable_importance.json", ("coverage",)),
        ("variable_importance.json variable_importance_network.json", ("importance",), {
            "network, both continued": "network", "network, reduced model only": "network reduced only",
            "boosting, reduced model only": "reduced only", "kernel, reduced model only": "kernel reduced only",
            "ρ = 0": "0.0", ".5": "0.5", ".8": "0.8"}),
        ("stopping_bound.json", (), {
            "rounds by the theory": "threshold", "best round": "best", "by held-out samples": "held out",
            "by the theory": "error at the threshold", "fresh samples": "fresh error at the threshold",
            "at the best": "error at the best", "held out": "error held out", "exponent of n": "slopes",
            **{f"{n:,}": f"n={n}" for n in range(200, 2001, 300)}}),
        ("variable_importance.json", ("wide",), {**METHODS, "without file": NO_CATBOOST}),
        ("variable_importance.json", ("shapley",), METHODS),
        ("variable_importance.json", ("sampled",), {
            **METHODS, **{f"x{j}": f"feature {j}" for j in range(1, 6)}, "error, others": "error of the rest", "stderr, others": "stderr of the rest",
            "seconds": "processor seconds", "without file": ("truth",)}),
        *(("variable_importance.json", ("turbine", target, kind), METHODS)
          for target in ("nox", "co") for kind in ("importance", "shapley")),
        ("bench_importance.json", (), {
            "early stopping": "seconds", "retraining": "seconds", "dropout": "seconds",
            "CatBoost, early stopping": "seconds", "importances of all 100 features, n = 5,000": "all",
            "Shapley values, 10 features, 1,024 subsets": "shapley",
            "importances of 6 features, MLPRegressor, n = 2,000": "network",
            "ratios": ("early stopping", "retraining", "dropout", "CatBoost, early stopping")}),
    ],
    "intervals": [
        *(("bench_intervals.json", (part, kind), INTERVALS)
          for part in ("trees", "ensembles") for kind in ("real", "simulated")),
        ("bench_intervals.json", ("cost",), {"without, ms": "without", "with, ms": "with"}),
        ("bench_intervals.json", ("classification",), {"calibration error": "error"}),
    ],
    "distillation": [
        ("bench_distillation.json", ("mean",), {
            "depth 4: R²": "depth 4|score", "depth 8: R²": "depth 8|score"}),
    ],
    "one_row": [
        ("bench_one_row.json", (), {
            "regression": "regression: predict",
            **{f"{n} classes": f"{n} classes: predict" for n in (2, 3)},
            **{f"{n} classes, probabilities": f"{n} classes: predict proba" for n in (2, 3)}}),
    ],
    "league": [
        ("league.json", ("losses",)),
        ("league_5000_rows.json", ("all",), {"Elo": "elo", "fit, s": "fit", "predict, ms": "predict"}),
        ("league_5000_rows.json", ("losses",)),
        *(("bench_learning_rate.json", (part,)) for part in ("5,000 rows", "20,000 rows", "drawn")),
        *(("few_of_many_features.json", (f"curvature {program}",),
           {"fit with all, s": "fit with all", "fit with few, s": "fit with few"})
          for program in ("boosting", "forest", "tree")),
        *(("league.json", (kind,), {"Elo": "elo", "fit, s": "fit", "predict, ms": "predict"})
          for kind in ("all", "regression", "binary", "multiclass")),
    ],
    "single_trees": [
        ("single_trees.json", ("sets",)),
        ("single_trees.json", ("regression", "mean rank")),
        ("single_trees.json", ("regression", "mean R2")),
        ("single_trees.json", ("regression", "curvature trees better")),
        ("single_trees.json", ("alone", "mean R2")),
    ],
    "soft_trees": [
        ("bench_soft.json", ("passes",), {
            "conditional, γ = 1": "conditional, gamma 1.0", "conditional, γ = 0.1": "conditional, gamma 0.1",
            "dense, logistic": "dense logistic", "ratios": ("torch / conditional, γ = 1", "γ = 0.1")}),
        ("bench_soft.json", ("training",), {"without file": ("leaves at depth 10",)}),
        ("bench_soft.json", ("inference",), {"ratios": ("ratio",)}),
        ("bench_soft.json", ("memory",)),
        ("soft_tree_defaults.json", ()),
        ("soft_tree_defaults.json", ()),
        ("tree_ensemble_layer.json", ("models", "auc"), {"without file": ("paper's TEL",)}),
        ("tree_ensemble_layer.json", ("soft trees", "auc"), {"with the prior": "models", "without": "unpenalized"}),
        ("tree_ensemble_layer.json", ("routing", "auc")),
        ("tree_ensemble_layer.json", ("trees", "auc")),
        ("tree_layer_training_time.json", (), {
            "ratios": ("ratio",), "smooth step": "smooth step|seconds", "logistic": "logistic|seconds",
            "leaves reached": "smooth step|reached", "smooth step, loss": "smooth step|loss", "logistic, loss": "logistic|loss"}),
        "printed by examples/soft_tree_digits.py",
    ],
    "tables": [
        ("bench_tables.json", ("accuracy",), {}),
        "the encoder without its parts, which a released version cannot be asked for",
        ("bench_tables.json", ("accuracy",), {}),
        ("bench_tables_more.json", ("accuracy",), {}),
    ],
    "tree_ntk": [
        ("bench_gram.json", ("grid", "n=5000"), {"tree ntk": "fctree"}),
        ("bench_nystrom.json", ("large",), {}),
        ("bench_nystrom.json", ("landmarks",), {}),
        ("bench_feature_learning.json", (), {"learned, 16 settings": "small"}),
        ("tree_ntk_tables.json", ("learned",), {
            "learned features": "learned", "the same without": "plain",
            "rectifier network, chosen alike": "relu ntk, chosen alike",
            **{f"the paper's trees, scale {scale}": f"paper, tntk {scale}" for scale in (8, 32)},
            "the paper's rectifier network": "paper, relu ntk",
            "all": "mean", "ahead": "wins", "equal": "ties", "behind": "losses"}),
        ("tree_ntk_tables.json", ("columns",), {
            **TREE_SCALES, "the paper's digits": "equal", "within one test sample": "within one"}),
        ("tree_ntk_tables.json", ("wins", "rate"), {**TREE_SCALES, "halved": "relu ntk, halved"}),
        ("tree_ntk_tables.json", ("lists", "p")),
        ("tree_ntk_tables.json", ("boosting",)),
        ("tree_shapes.json", (), {
            "exponent": "slopes", **{f"{m:,}": f"M={m}" for m in (16, 64, 256, 1024, 4096)}}),
    ],
}
