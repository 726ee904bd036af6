"""Callbacks of the boosters' fit."""

import time

import numpy as np
import pytest
from boosters import BOOSTERS, SMALL, bytes_of, table
from fctree.callbacks import max_time
from sklearn.exceptions import NotFittedError

pytestmark = pytest.mark.parametrize("kind", BOOSTERS)


class Record:
    """Remembers what it hears; stops after so many rounds."""

    def __init__(self, last=None):
        self.heard = []
        self.last = last

    def __call__(self, round, scores):
        self.heard.append((round, scores))
        return round == self.last


def test_callbacks_hear_of_the_losses_of_each_round(kind):
    X, y = table(kind)
    record, second = Record(), Record()
    model = kind(**SMALL).fit(X, y, eval_set=table(kind, 50, 1), callbacks=[record, second])
    rounds, scores = zip(*record.heard)
    assert rounds == tuple(range(1, 9)) and second.heard == record.heard
    assert [s["training"]["loss"] for s in scores] == list(-model.train_score_[1:])
    assert [s["valid_0"]["loss"] for s in scores] == list(-model.validation_score_[1:])
    record = Record()
    kind(**SMALL).fit(X, y, callbacks=record)
    assert all(scores.keys() == {"training"} for _, scores in record.heard)


@pytest.mark.parametrize("last", [1, 5])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stopped_fit_is_one_of_so_many_rounds(kind, last, n_jobs):
    X, y = table(kind)
    record = Record(last)
    stopped = kind(**SMALL, n_jobs=n_jobs).fit(X, y, callbacks=[record, Record()])
    expected = kind(**{**SMALL, "max_iter": last}).fit(X, y)
    assert stopped.n_iter_ == last == len(record.heard)
    assert bytes_of(stopped) == bytes_of(expected)
    assert stopped.train_score_.tobytes() == expected.train_score_.tobytes()


def test_what_callbacks_set_is_kept(kind):
    X, y = table(kind)
    model = kind(**SMALL)

    def note(round, scores):
        model.last_round = round
        model.set_params(learning_rate=0.01)  # of the next fit

    model.fit(X, y, callbacks=note)
    assert model.last_round == 8 and model.learning_rate == 0.01
    assert bytes_of(model) == bytes_of(kind(**SMALL).fit(X, y))


def test_callbacks_change_nothing_else(kind):
    X, y = table(kind)
    settings = {**SMALL, "subsample": 0.7}
    heard = kind(**settings).fit(X, y, callbacks=[Record()])
    assert bytes_of(heard) == bytes_of(kind(**settings).fit(X, y))


def test_a_stop_keeps_the_best_round_of_early_stopping(kind):
    X, y = table(kind, 60)
    settings = {**SMALL, "learning_rate": 1.0, "max_iter": 30, "n_iter_no_change": 40}
    model = kind(**settings, early_stopping=True).fit(
        X, y, eval_set=table(kind, 60, 1), callbacks=Record(25))
    assert len(model.validation_score_) == 26
    assert model.n_iter_ == np.argmax(model.validation_score_)


def test_a_warm_start_counts_on(kind):
    X, y = table(kind)
    model = kind(**SMALL, warm_start=True).fit(X, y, callbacks=Record(3))
    record = Record()
    model.fit(X, y, callbacks=record)
    assert [round for round, _ in record.heard] == [4, 5, 6, 7, 8]
    assert bytes_of(model) == bytes_of(kind(**SMALL).fit(X, y))


@pytest.mark.parametrize("error", [RuntimeError("mine"), KeyboardInterrupt(), StopIteration()])
def test_errors_of_a_callback_leave_the_estimator_as_it_was(kind, error):
    X, y = table(kind)

    def fail(round, scores):
        if round == 4:
            raise error

    model = kind(**SMALL)
    with pytest.raises(type(error)) as raised:
        model.fit(X, y, callbacks=[fail])
    assert raised.value is error and not hasattr(model, "trees_")
    model.fit(X, y)
    before = vars(model).copy()
    with pytest.raises(type(error)):
        model.set_params(max_depth=1).fit(X, y, callbacks=[fail])
    assert all(vars(model)[name] is before[name] for name in before if name.endswith("_"))


def test_what_is_no_callback_is_refused(kind):
    X, y = table(kind)
    for bad in (5, "print", [print, None], {"callback": print}):
        with pytest.raises(TypeError, match="callbacks must be a function"):
            kind(**SMALL).fit(X, y, callbacks=bad)
    for bad in (lambda env: False, lambda round, scores, model: False):
        with pytest.raises(TypeError, match=r"called as callback\(round, scores\)"):
            kind(**SMALL).fit(X, y, callbacks=bad)
    for answer in (0.5, "stop", [True], 1):
        with pytest.raises(TypeError, match="a callback returns True to stop, and False or None"):
            kind(**SMALL).fit(X, y, callbacks=lambda round, scores: answer)
    assert kind(**SMALL).fit(X, y, callbacks=lambda round, scores: np.True_).n_iter_ == 1
    assert kind(**SMALL).fit(X, y, callbacks=[]).n_iter_ == 8


def test_max_time(kind, monkeypatch):
    X, y = table(kind)
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def tick(round, scores):
        now[0] += 1.0

    assert kind(**SMALL).fit(X, y, callbacks=[tick, max_time(3)]).n_iter_ == 3
    assert kind(**SMALL).fit(X, y, callbacks=[max_time(1e-9), tick]).n_iter_ == 2
    assert kind(**SMALL).fit(X, y, callbacks=[tick, max_time(np.inf)]).n_iter_ == 8
    both = [tick, max_time(3)]
    assert [kind(**SMALL).fit(X, y, callbacks=both).n_iter_ for _ in range(3)] == [3, 4, 4]
    model = kind(**{**SMALL, "max_iter": 12}, warm_start=True)  # continued, a time of its own each
    assert [model.fit(X, y, callbacks=both).n_iter_ for _ in range(2)] == [4, 8]
    for bad in (0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="seconds must be positive"):
            max_time(bad)
    for bad in ("1", None, True, [1]):
        with pytest.raises(TypeError, match="seconds must be a number"):
            max_time(bad)


@pytest.mark.filterwarnings("error")
def test_a_callback_sees_the_model_of_the_last_fit(kind):
    X, y = table(kind)
    model, seen = kind(**SMALL), []

    def predict(round, scores):
        try:
            seen.append(model.predict(X))
        except NotFittedError as error:
            seen.append(error)

    model.fit(X, y, callbacks=predict)
    assert len(seen) == 8 and all(isinstance(each, NotFittedError) for each in seen)
    expected = model.predict(X)
    seen.clear()
    model.fit(X[::-1], y, callbacks=predict)
    assert len(seen) == 8 and all(np.array_equal(each, expected) for each in seen)
    assert not np.array_equal(model.predict(X), expected)
