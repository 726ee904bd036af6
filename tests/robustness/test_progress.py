"""Progress bars start no thread, and need no stream; lines of progress are one write each; workers of a pool hear
nothing of joblib's processes."""

import os
import struct
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from fctree import CurvatureForestRegressor, SoftTreeRegressor, SymmetricBoostingRegressor, TreeNTKRegressorCV, _threads
from fctree._training.progress import progress_listener

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] + X[:, 1] ** 2


@pytest.mark.parametrize("verbose", [0, 1])
@pytest.mark.parametrize("model", [TreeNTKRegressorCV(depths=(1, 2)), SymmetricBoostingRegressor(max_iter=3)])
def test_no_thread_is_left(model, verbose):
    before = set(threading.enumerate())
    model.set_params(verbose=verbose).fit(X, Y)
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize(
    "model",
    [TreeNTKRegressorCV(depths=(1, 2)), SymmetricBoostingRegressor(max_iter=3), SoftTreeRegressor(max_epochs=2),
     CurvatureForestRegressor(n_estimators=2)],
)
def test_no_stream_is_no_bar(model, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    model.set_params(verbose=1).fit(X, Y)


def test_forests_show_trees_and_are_the_same(capfd):
    forest = CurvatureForestRegressor(n_estimators=50, random_state=0)
    silent = forest.fit(X, Y).predict(X)
    assert capfd.readouterr().err == ""
    np.testing.assert_array_equal(forest.set_params(verbose=1).fit(X, Y).predict(X), silent)
    assert "CurvatureForestRegressor: 100%" in (shown := capfd.readouterr().err) and "50/50" in shown
    forest.set_params(warm_start=True, n_estimators=90).fit(X, Y)
    assert "40/40" in capfd.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX systems")
def test_a_narrow_terminal_shows_the_losses(monkeypatch):
    import fcntl
    import termios

    monkeypatch.setenv("TERM", "xterm")
    terminal, stream = os.openpty()
    fcntl.ioctl(stream, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with open(stream, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with progress_listener(1, 1000, "SymmetricBoostingRegressor") as show:
            show(0, 0.123456, 0.234567)
        shown = b""
        while not shown.endswith(b"\n"):  # a terminal gives what it has so far
            shown += os.read(terminal, 10**5)
    os.close(terminal)
    assert b"train loss 0.123456, validation loss 0.234567" in shown


def test_a_line_of_progress_is_one_write(monkeypatch):
    # Where standard output is not buffered, an interrupt can fall between two writes.
    written = []
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(write=written.append, flush=lambda: None))
    with progress_listener(2, 2, "fit") as show:
        show(0, 0.5, 0.25)
        show(1, 0.25, float("nan"))
    assert [text for text in written if text] == [
        "[1] train loss 0.5, validation loss 0.25\n", "[2] train loss 0.25\n",
    ]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_jobs, n_threads", [(None, 1), (2, 2), (-1, 1)])
def test_a_worker_of_a_pool_keeps_the_threads_that_are_asked_for(n_jobs, n_threads, monkeypatch):
    monkeypatch.setattr(_threads, "current_process", lambda: SimpleNamespace(daemon=True))
    assert _threads.count_threads(n_jobs) == n_threads
    with pytest.raises(ValueError, match="n_jobs == 0"):
        _threads.count_threads(0)
