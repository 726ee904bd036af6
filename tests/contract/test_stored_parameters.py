"""save_model takes parameters as users write them: sets, ranges, columns of data frames, numbers of NumPy."""

import numpy as np
import pandas as pd
import pytest
from fctree import SoftTreeRegressor, SymmetricBoostingRegressor, TreeNTKRegressorCV, load_model, save_model
from sklearn.base import clone

X = np.random.default_rng(0).normal(size=(60, 5))
NAMED = pd.DataFrame(X, columns=["a", "b", "c", "äö", "e e"])
y = X[:, 0] * X[:, 1] + X[:, 2]
SHORT = {"max_iter": 3, "random_state": 0}


@pytest.mark.parametrize("model", [
    SymmetricBoostingRegressor(**SHORT, interaction_cst=[{"a", "b"}, frozenset({"c", "äö"})]),
    SymmetricBoostingRegressor(**SHORT, interaction_cst=({0, 4}, range(1, 4))),
    SymmetricBoostingRegressor(**SHORT, categorical_features=NAMED.columns[[2, 3]]),
    SymmetricBoostingRegressor(**SHORT, categorical_features=NAMED.columns == "c"),
    SymmetricBoostingRegressor(**SHORT, monotonic_cst=pd.Series([1, 0, 0, -1, 0])),
    SymmetricBoostingRegressor(**SHORT, loss=["huber", 0.8]),
    SoftTreeRegressor(max_epochs=2, gamma=np.float64(0.5), scale=np.int8(1), batch_norm=np.False_, fit_intercept=np.True_,
                      routing=np.str_("erf"), random_state=0),
    TreeNTKRegressorCV(alphas=pd.Series([0.1, 1.0]), depths=range(1, 3), scales=[1.0]),
], ids=lambda model: type(model).__name__)
def test_parameters_are_stored_as_users_write_them(model, tmp_path):
    given = model.get_params()
    model = clone(model).fit(NAMED, y)
    assert repr(model.get_params()) == repr(given)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.predict(NAMED).tobytes() == model.predict(NAMED).tobytes()
    assert clone(loaded).fit(NAMED, y).predict(NAMED).tobytes() == model.predict(NAMED).tobytes()


def test_sets_become_lists_whose_order_is_always_the_same(tmp_path):
    model = SymmetricBoostingRegressor(interaction_cst=[{"b", "a", "c"}, {10, 9, "b"}, range(2)])
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.interaction_cst == [["a", "b", "c"], ["b", 10, 9], [0, 1]]
