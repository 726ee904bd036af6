"""Files made by hand that hold trees which compiled code must never see."""

import copy
import pickle
import random

import joblib
import numpy as np
import pytest
from fctree import FCODTClassifier, TreeNTKRegressor, load_model, save_model
from robustness.forged_model_files import MODELS, NONSENSE, RNG, Forgery, X, as_type, cut, file_of, parts_of, put, refused, y
from sklearn.base import clone


@pytest.mark.parametrize("name", ["oblique", "oblique classes"])
@pytest.mark.parametrize(
    "field, change, match",
    [
        ("children_left", put(0, 1_000_000), "child"),
        ("children_left", put(0, -2), "child"),
        ("children_left", put(0, 0), "child"),
        ("children_left", put(0, -1), "children"),
        ("children_right", put(-1, 1), "children"),
        ("children_right", as_type(np.float64), "int64"),
        ("children_right", cut(slice(1)), "shape"),
        ("children_left", cut(slice(0)), "shape|node"),
        ("leaf_index", put(-1, 99), "leaf_index"),
        ("leaf_index", put(-1, -1), "leaf_index"),
        ("leaf_index", put(0, 0), "leaf_index"),
        ("threshold", put(0, np.nan), "NaN"),
        ("threshold", as_type("U8"), "threshold"),
        ("coef", cut(slice(None), slice(2)), "shape"),
        ("coef", cut(slice(2)), "shape"),
        ("leaf_coef", cut(slice(1)), "shape"),
        ("leaf_coef", cut(slice(None), slice(0)), "shape"),
        ("leaf_intercept", cut(slice(1)), "shape"),
        ("leaf_intercept", cut(slice(None), slice(0)), "shape|output"),
        ("value", cut(slice(1)), "shape"),
        ("split_kind", put(0, 3), "split_kind"),
        ("feature_gain", cut(slice(1)), "shape"),
    ],
)
def test_oblique_trees(name, field, change, match, tmp_path):
    forgery = Forgery(name, tmp_path / "model")
    forgery.change_array(f"tree_.{field}", change)
    forgery.refused(match)


@pytest.mark.parametrize("name", ["boosting", "boosting classes"])
@pytest.mark.parametrize("trees", ["trees_", "posterior_trees_.1"])
@pytest.mark.parametrize(
    "field, change, match",
    [
        ("split_feature", put((0, 0), 3), "feature 3"),
        ("split_feature", put((-1, -1), 2**31 - 1), "feature"),
        ("split_feature", put((0, 0), -2), "below -1"),
        ("split_feature", put((0, 0), -1), "below a missing"),
        ("split_feature", as_type(np.int64), "int32"),
        ("split_feature", cut(slice(None), slice(1)), "shape"),
        ("split_feature", cut(slice(1)), "shape"),
        ("split_feature", lambda array: array[0], "axes"),
        ("split_threshold", put((0, 0), np.nan), "NaN"),
        ("split_threshold", as_type(np.float32), "float64"),
        ("split_threshold", as_type(">f8"), "float64"),
        ("split_threshold", cut(slice(1)), "shape"),
        ("missing_right", as_type(np.uint8), "bool"),
        ("missing_right", cut(slice(1)), "shape"),
        ("split_gain", cut(slice(1)), "shape"),
        ("leaf_values", cut(slice(None), slice(3)), "shape"),
        ("leaf_values", cut(slice(1)), "shape"),
        ("leaf_values", cut(..., slice(0)), "shape"),
        ("leaf_values", lambda array: np.tile(array, 7), "outputs"),
    ],
)
def test_symmetric_trees(name, trees, field, change, match, tmp_path):
    if name == "boosting classes" and trees.startswith("posterior"):
        name = "boosting"
    forgery = Forgery(name, tmp_path / "model")
    forgery.change_array(f"{trees}.{field}", change)
    forgery.refused(match)


def test_the_most_levels(tmp_path):
    """Leaves are numbered by 16 bits."""
    forgery = Forgery("boosting", tmp_path / "model")
    wide = {"split_feature": -1, "split_threshold": 0, "split_gain": 0, "missing_right": False}
    for field, fill in wide.items():
        forgery.change_array(
            f"trees_.{field}", lambda array, fill=fill: np.full((1, 17), fill, array.dtype)
        )
    forgery.change_array("trees_.leaf_values", lambda array: np.zeros((1, 2**17, 1)))
    forgery.refused("17 levels")


OBJECT = {"type": "object array", "shape": [3], "items": ["a", 1, None]}
EMPTY = {"type": "dict", "items": []}


@pytest.mark.parametrize(
    "name, where, value, match",
    [
        *(
            (name, "n_features_in_", value, "n_features_in_|feature")
            for name in MODELS
            for value in (0, 2, 4, -1, True, 3.0, None)
        ),
        *(
            (name, "feature_names_in_", value, "feature_names_in_")
            for name in MODELS
            for value in (OBJECT, ["a", "b", "c"])
        ),
        *(
            (name, "classes_", value, "classes_")
            for name in ("oblique classes", "boosting classes")
            for value in (OBJECT, ["a", "b", "c"], None)
        ),
        *(
            (name, "n_classes_", value, "classes_")
            for name in ("oblique classes", "boosting classes")
            for value in (0, 2, 4, True)
        ),
        *(
            (name, "n_outputs_", value, "n_outputs_|output")
            for name in ("oblique", "boosting", "boosting classes")
            for value in (0, 2, True, None)
        ),
        *(
            (name, "_single_target", value, "_single_target")
            for name in ("oblique", "boosting")
            for value in (0, None)
        ),
        ("oblique", "tree_", None, "tree_"),
        ("oblique", "alpha_", "loo", "alpha_"),
        ("oblique", "tree_.n_classes", 0, "n_classes"),
        ("oblique classes", "tree_.n_classes", None, "shape|n_classes"),
        ("oblique classes", "tree_.n_classes", 3.0, "n_classes"),
        ("oblique", "tree_.children_left", [1, 2], "children_left"),
        ("oblique", "tree_.threshold", OBJECT, "threshold"),
        ("oblique", "tree_.more", 1, "more"),
        ("boosting", "trees_", EMPTY, "trees_"),
        ("boosting", "trees_.more", 1, "more"),
        ("boosting", "posterior_trees_", EMPTY, "posterior_trees_"),
        ("boosting", "_random_seed", -1, "_random_seed"),
        ("boosting", "_random_seed", 2**64, "_random_seed"),
        ("boosting", "n_iter_", 2, "n_iter_"),
        ("boosting", "_log_link", -1, "_log_link"),
        ("boosting", "baseline_", 0.5, "baseline_"),
        ("boosting", "train_score_", [], "train_score_"),
        ("boosting", "bin_thresholds_", [], "bin_thresholds_"),
        ("boosting", "bin_thresholds_", [1, 2, 3], "bin_thresholds_"),
        *(("oblique classes", "temperature_", value, "temperature_") for value in (0.0, -1.0, 1, True, "1")),
        *(("forest classes", "exponent_", value, "exponent_") for value in (0.0, 1, None)),
        *(("forest", "step_share_", value, "step_share_") for value in (-0.1, 1.1, 1, None)),
        *(("forest", "split_margin_", value, "split_margin_") for value in (-0.1, 1, None)),
        ("forest", "residual_trees_", 0, "residual_trees_"),
        ("forest", "trees_", None, "trees_"),
        ("curved", "interval_trees_", [], "list of three"),
        ("curved", "interval_trees_", [1, 2, 3], "interval_trees_"),
        *(("kernel", "_penalty", value, "_penalty") for value in (-0.1, 1, "1")),
        ("kernel", "_depth", "deep", "depth"),
        ("kernel classes", "classes_", ["a", "b", "c"], "classes_"),
        ("soft", "_state", [], "_state"),
        *(("soft", "_rule", value, "_rule") for value in (EMPTY, ["batch_norm", "fit_intercept", "gamma", "routing", "scale"])),
        *(("soft", "loss_curve_", value, "loss_curve_") for value in ([1], EMPTY)),
    ],
)
def test_attributes(name, where, value, match, tmp_path):
    forgery = Forgery(name, tmp_path / "model")
    forgery.set(where, value)
    forgery.refused(match)


@pytest.mark.parametrize(
    "name, where, change, match",
    [
        ("boosting", "baseline_", lambda array: np.tile(array, 2), "baseline_"),
        ("boosting", "baseline_", as_type(np.float32), "float64"),
        ("boosting", "bin_thresholds_", put(1, -np.inf), "ascending"),
        ("boosting", "bin_thresholds_", put(0, np.nan), "ascending"),
        ("boosting", "bin_thresholds_", as_type(np.float32), "float64"),
        ("boosting", "bin_thresholds_", cut(slice(5)), "offsets"),
        ("boosting classes", "classes_", lambda array: array[::-1], "ascending"),
        ("boosting classes", "classes_", lambda array: array * 0, "ascending"),
        ("boosting classes", "classes_", lambda array: array[:, None], "axes"),
        ("oblique classes", "classes_", lambda array: array[:2], "length"),
        ("oblique", "interval_scores_", put(0, -1.0), "negative"),
        ("oblique", "interval_levels_", cut(slice(1)), "interval_levels_"),
        ("oblique", "interval_scales_", cut(slice(1)), "one a leaf"),
        ("forest", "interval_scales_", cut(slice(1)), "one a leaf"),
        ("curved", "interval_baselines_", cut(slice(2)), "interval_baselines_"),
        ("curved", "interval_reach_", cut(slice(1)), "interval_reach_"),
        ("forest classes", "class_shifts_", cut(slice(2)), "class_shifts_"),
        ("forest classes", "class_shifts_", put(0, np.nan), "class_shifts_"),
        ("kernel classes", "classes_", lambda array: array[:, None], "axes"),
        ("kernel classes", "dual_coef_", cut(slice(None), slice(2)), "column a class"),
        ("soft", "baseline_", lambda array: np.tile(array, 2), "baseline_"),
        ("soft", "_target_scale", lambda array: np.tile(array, 2), "_target_scale"),
    ],
)
def test_arrays_of_models(name, where, change, match, tmp_path):
    forgery = Forgery(name, tmp_path / "model")
    forgery.change_array(where, change)
    forgery.refused(match)


@pytest.mark.parametrize("name, features, targets, match", [
    *((name, X[:, :2], y, "features") for name in ("oblique", "curved", "forest")),
    *((name, X, np.column_stack([y, y]), "outputs") for name in ("oblique", "curved", "forest")),
    ("oblique classes", X, y > 0, "outputs"),
])
def test_trees_of_another_model(name, features, targets, match, tmp_path):
    model, trees = copy.copy(MODELS[name]), "tree_" if name.startswith("oblique") else "trees_"
    setattr(model, trees, getattr(clone(model).fit(features, targets), trees))
    with pytest.raises(ValueError, match=f"{trees} has .*{match}"):
        save_model(model, tmp_path / "model")


def test_trees_of_another_kind_and_none(tmp_path):
    forged = copy.copy(MODELS["oblique"]), copy.copy(MODELS["forest"])
    forged[0].tree_ = FCODTClassifier().fit(X, y > 0).tree_
    forged[1].trees_ = forged[1].trees_[:0]
    for model, match in zip(forged, ("n_classes=2", "no trees"), strict=True):
        with pytest.raises(ValueError, match=match):
            save_model(model, tmp_path / "model")


def test_too_many_thresholds(tmp_path):
    forgery = Forgery("boosting", tmp_path / "model")
    many = np.arange(3 * 255.0)
    forgery.change_array("bin_thresholds_", lambda array: many)
    code = forgery.header["attributes"]["bin_thresholds_"]
    forgery.arrays.append(np.array([0, 255, 510, 765]))
    code["offsets"] = len(forgery.arrays) - 1
    forgery.refused("255 thresholds")


@pytest.mark.parametrize("name", MODELS)
def test_each_attribute_is_needed(name, tmp_path):
    # The others are younger than the format: files of 0.1 lack them.
    optional = {"posterior_trees_", "_rule", "_log_link", "encoder_", "evals_result_", "_judged", "_penalty", "_fold_errors",
                "split_margin_", "residual_trees_"}
    for attribute in vars(MODELS[name]).keys() - MODELS[name].get_params().keys() - optional:
        forgery = Forgery(name, tmp_path / "model")
        forgery.remove(attribute)
        forgery.refused(f"lacks {attribute}")
    for trees in {"tree_", "trees_"} & vars(MODELS[name]).keys():
        for field in vars(getattr(MODELS[name], trees)).keys() - {
            "n_classes", "split_kind", "feature_scale", "boundary_width"
        }:
            forgery = Forgery(name, tmp_path / "model")
            forgery.remove(f"{trees}.{field}")
            forgery.refused(f"lacks {field}")


def _copies(trees, path):
    joblib.dump(trees, path)
    pickled = pickle.loads(pickle.dumps(trees))
    return trees, copy.copy(trees), copy.deepcopy(trees), pickled, joblib.load(path)


@pytest.mark.parametrize("name", ["oblique", "oblique classes", "boosting", "forest"])
def test_structure_is_fixed(name, tmp_path):
    """Compiled code follows it without looking: in the model, in its copies, and in one tree of many."""
    model = MODELS[name]
    trees = model.tree_ if name.startswith("oblique") else model.trees_
    parts = [] if name.startswith("oblique") else [trees[0], *_copies(trees[0], tmp_path / "part")]
    for one in [*_copies(trees, tmp_path / "all"), *parts]:
        for field in one._structure:
            with pytest.raises(ValueError, match="read-only"):
                getattr(one, field)[...] = 10**7
        for field in vars(one):
            with pytest.raises(AttributeError, match=f"cannot (be replaced|assign to field '{field}')"):
                setattr(one, field, 0)


def change_somewhere(node, chance):
    """Replaces or removes one entry somewhere inside of a JSON value."""
    keys = list(node) if isinstance(node, dict) else range(len(node))
    key = chance.choice(list(keys))
    if isinstance(node[key], (dict, list)) and node[key] and chance.random() < 0.8:
        change_somewhere(node[key], chance)
    elif chance.random() < 0.2:
        del node[key]
    else:
        node[key] = chance.choice(
            [None, True, -1, 0, 1, 2, 7, 2**31, 2**63, 0.5, "", "text", [], [0], {}, *NONSENSE]
        )


def change_one_array(arrays, chance):
    """Puts another number, shape or type into one array."""
    index = chance.randrange(len(arrays))
    array = arrays[index].copy()
    action = chance.choice(["number", "number", "number", "shape", "cut", "type"])
    if action == "number" and array.size and array.dtype.kind in "if":
        numbers = [-2, -1, 0, 1, 2, 3, 5, 100, 2**30]
        array.flat[chance.randrange(array.size)] = chance.choice(numbers)
    elif action == "shape":
        array = array.reshape(chance.choice([(-1,), (1, -1), (-1, 1), (-1, 1, 1)]))
    elif action == "cut":
        array = array[: chance.randrange(len(array) + 1)] if array.ndim else array
    elif action == "type" and array.dtype.kind in "ifb":
        with np.errstate(invalid="ignore"):
            array = array.astype(chance.choice(["<f4", "<i8", ">f8", "<i4", "<U3", "<u8"]))
    arrays[index] = array


def use(model):
    """Predicts and boosts on; whatever Python can say is fine, a crash ends the tests."""
    rows = RNG.standard_normal((70, getattr(model, "n_features_in_", 3)))
    try:
        model.set_params(n_jobs=1)
        targets = model.predict(rows)
        if hasattr(model, "trees_"):
            params = {"max_iter": model.n_iter_ + 1, "warm_start": True, "posterior_samples": 0}
            model.set_params(**params).fit(rows, targets)
    except Exception as error:
        assert not isinstance(error, MemoryError)


@pytest.mark.parametrize("name", MODELS)
def test_chance_makes_a_model_or_a_value_error(name, tmp_path):
    """Content that is accepted is a model, which can be used or raises a Python error."""
    path, model = tmp_path / "model", MODELS[name]
    parts = parts_of(model, path)
    chance = random.Random(11)
    n_refused = 0
    for _ in range(300):
        header, arrays = copy.deepcopy(parts[0]), list(parts[1])
        for _ in range(chance.randint(1, 2)):
            if chance.random() < 0.5:
                change_somewhere(header, chance)
            else:
                change_one_array(arrays, chance)
        path.write_bytes(file_of(header, arrays))
        try:
            loaded = load_model(path)
        except Exception as error:
            assert type(error) is ValueError
            n_refused += 1
            continue
        assert type(loaded) is type(model)
        use(loaded)
    assert 100 < n_refused < 300


def test_intervals_of_other_outputs_and_without_weights(tmp_path):
    """Of a tree kernel, whose intervals are found at their first prediction."""
    model = TreeNTKRegressor(alpha=0.1).fit(X, y)
    path = tmp_path / "model"
    header, arrays = parts_of(model, path)
    del header["attributes"]["_fit_weights"]
    refused(path, file_of(header, arrays), "lacks _fit_weights")
    model.predict_interval(X)
    for n_columns in (0, 2):
        header, arrays = parts_of(model, path)
        for name in ("interval_scores_", "interval_levels_"):
            number = header["attributes"][name]["number"]
            arrays[number] = np.repeat(arrays[number], n_columns, axis=1)
        refused(path, file_of(header, arrays), "other outputs")
