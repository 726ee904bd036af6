"""Ratings, ranks and records of the league of programs (benchmarks/league.py)."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


@pytest.fixture
def scores(benchmark_module):
    return benchmark_module("league_scores")


@pytest.fixture
def league(benchmark_module):
    return benchmark_module("league")


@pytest.fixture
def extending(benchmark_module):
    return benchmark_module("league_earlier")


@pytest.fixture
def earlier():
    """The stored result of the league."""
    return json.loads((RESULTS / "league.json").read_text())["results"]


def test_games_count_draws_failures_and_absence(scores):
    errors = np.array([[1.0, 2.0, np.nan], [1.0, 1.0, np.inf], [3.0, np.inf, np.inf]])
    assert scores.games(errors).tolist() == [[0, 2.5, 2], [0.5, 0, 1.5], [0, 0.5, 0]]


def test_elo_of_two_programs_is_the_odds_of_winning(scores):
    won = np.array([[0.0, 9.75], [0.75, 0.0]])  # and a quarter to each: 10 to 1
    ratings = scores.elo(won, reference=1)
    assert ratings == pytest.approx([1400.0, 1000.0], abs=1e-6)


def test_elo_recovers_strengths(scores):
    truth = np.array([1300.0, 1100.0, 1000.0, 700.0])
    chance = 1.0 / (1.0 + 10.0 ** ((truth[np.newaxis, :] - truth[:, np.newaxis]) / 400.0))
    np.fill_diagonal(chance, 0.0)
    assert scores.elo(1e6 * chance, reference=2) == pytest.approx(truth, abs=0.01)


def test_a_program_that_always_wins_has_a_finite_rating_and_one_without_games_none(scores):
    errors = np.array([[1.0, 2.0, 3.0, np.nan]] * 5)
    rating, low, high = scores.elo_intervals(errors, reference=1)
    assert 1000.0 < rating[0] < 2500.0
    assert low[0] <= rating[0] <= high[0]
    assert rating[1] == low[1] == high[1] == 1000.0
    assert np.isnan(rating[3])


def test_mean_ranks_leave_out_programs_that_miss_a_set(scores):
    errors = np.array([[1.0, 2.0, 0.5], [2.0, 2.0, np.nan]])
    assert scores.mean_ranks(errors) == pytest.approx([1.25, 1.75, np.nan], nan_ok=True)


def test_losses_name_the_best_rival_largest_first(scores):
    errors = np.array([[1.0, 2.0, 4.0], [3.0, 2.0, np.nan], [np.nan, 1.0, 1.0], [1.0, np.inf, np.nan]])
    found = scores.losses(errors, ["a", "b", "c", "d"], ["ours", "x", "y"], "ours")
    assert list(found) == ["b", "a"]
    assert found["b"] == {"fctree": 3.0, "rival": "x", "best rival": 2.0, "ratio": 1.5}


def test_an_ensemble_is_chosen_that_beats_its_members(scores):
    y = np.linspace(-1.0, 1.0, 50)
    wave = np.sin(9.0 * y)
    answers = [y + wave, y - wave, y + 5.0]
    weights = scores.choose_ensemble(answers, lambda of: np.mean((of - y) ** 2))
    assert weights == pytest.approx([0.5, 0.5, 0.0])


def test_a_run_goes_on_where_it_stopped(league, tmp_path):
    key = (100, 2, "regression/a", "random forest", 1)
    both = {"default": 10, "tuned": 20}
    assert league.missing_settings(tmp_path, key, both) == tuple(both)
    league.keep_records(tmp_path, key, ["default"], {"default": {"error": 1.5}}, {"kind": "regression"})
    assert league.missing_settings(tmp_path, key, both) == ("tuned",)
    assert league.missing_settings(tmp_path, (200, *key[1:]), both) == tuple(both)
    league.keep_records(tmp_path, key, ["tuned"], {"failure": "ValueError: no"}, {"kind": "regression"})
    first, second = league.read_records(tmp_path, 100, 2)
    assert (first["error"], first["setting"], first["fold"]) == (1.5, "default", 1)
    assert second["failure"] == "ValueError: no"
    assert "error" not in second


def test_a_fit_left_out_is_tried_again_under_a_higher_limit(league, tmp_path):
    key = (100, 2, "regression/a", "random forest", 1)
    league.keep_records(tmp_path, key, ["default"], {"left out": 10}, {"kind": "regression"})
    assert league.missing_settings(tmp_path, key, {"default": 10}) == ()
    assert league.missing_settings(tmp_path, key, {"default": 11}) == ("default",)


def test_a_failed_fold_loses_and_one_left_out_is_not_played(league):
    def record(program, fold, **of):
        return {"set": "a", "program": program, "setting": "default", "fold": fold,
                "of": {"kind": "binary"}, **of}

    records = [record(name, fold, error=1.0) for name in ("x", "y", "z") for fold in (0, 1)]
    records[3] = record("y", 1, failure="crash")
    records[5] = record("z", 1, **{"left out": 1})
    records += [record("w", 0, error=1.0)]  # the other fold is still to come
    _, programs, errors = league.errors_of(records, ("binary",), 2)
    assert programs == ["w", "x", "y", "z"]
    assert errors[0] == pytest.approx([np.nan, 1.0, np.inf, np.nan], nan_ok=True)


def test_a_search_starts_with_the_defaults_and_repeats_nothing(league):
    drawn = list(league.draw_options("PILOT", seed=0))
    assert drawn[0] == {}
    assert sorted(options["max_depth"] for options in drawn[1:]) == [3, 6, 12, 20]
    assert list(league.draw_options("tree NTK", seed=0)) == [{}]


def test_a_fit_that_is_too_slow_or_dies_costs_one_record(league, monkeypatch):
    monkeypatch.setattr(league, "fit_default", lambda *_: __import__("time").sleep(60))
    assert league.run_apart((1, None), limit=0.2) == {"left out": 0.2}
    monkeypatch.setattr(league, "fit_default", lambda *_: __import__("os")._exit(1))
    assert league.run_apart((1, None), limit=60) == {"failure": "the process died"}


def test_a_stored_result_summarised_again_has_the_same_numbers(league, extending, earlier):
    again = league.summarise(extending.with_earlier([], earlier, 2), 2)
    extending.keep_times(again, earlier, set())
    for kind in ("all", "regression", "binary", "multiclass"):
        assert again[kind].keys() == earlier[kind].keys()
        for program, of in earlier[kind].items():
            stored = {key: np.nan if value is None else value for key, value in of.items()}
            assert again[kind][program] == pytest.approx(stored, nan_ok=True)
    assert again["errors"] == {name: pytest.approx(of) for name, of in earlier["errors"].items()}
    assert list(again["losses"]) == list(earlier["losses"])


def test_a_program_that_is_run_again_replaces_its_earlier_errors(extending, earlier):
    name, errors = next(iter(earlier["errors"].items()))
    new = {"set": f"regression/{name}", "program": "CatBoost", "setting": "default", "fold": 0,
           "of": earlier["sets"][name], "error": 1.5}
    records = extending.with_earlier([new], earlier, 2)
    assert [r["error"] for r in records if r["program"] == "CatBoost"] == [1.5]
    assert {r["program"] for r in records if r["set"] == name} == errors.keys()


def test_an_earlier_result_of_other_rows_or_with_failures_is_refused(extending, earlier):
    name = next(iter(earlier["sets"]))
    new = {"set": name, "program": "new", "setting": "default", "fold": 0,
           "of": {**earlier["sets"][name], "rows": 7}, "error": 1.5}
    with pytest.raises(SystemExit, match="other rows"):
        extending.with_earlier([new], earlier, 2)
    failed = copy.deepcopy(earlier)
    failed["all"]["CatBoost"]["failures"] = 1
    with pytest.raises(SystemExit, match="failures"):
        extending.with_earlier([], failed, 2)
