"""Ctrl-C for a process of a test, and how long it may take to be heard.

The bound is generous: it tells a hang from an end, and does not measure speed. Sanitizers take several
times as long.
"""

import os
import signal
import time

from scripts import Script

SECONDS = 60 if os.environ.get("FCTREE_SANITIZED") else 5


def interrupt(process, wait, progress=None):
    """The line that a process says after SIGINT, sent `wait` seconds after it said "ready", and the
    seconds until then; lines about the rounds of a fit before it are added to `progress`."""
    assert process.stdout.readline().strip() == "ready", process.errors()
    time.sleep(wait)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    while (line := process.stdout.readline().strip()).startswith("["):
        progress.append(line)
    return line, time.monotonic() - sent


def assert_interrupted(code, *arguments, wait=1.5, says="interrupted", then=None):
    """Run a script and interrupt it; it has to say so in time, and `then` with its last line."""
    with Script(code, *arguments) as process:
        line, seconds = interrupt(process, wait)
        assert line == says, process.errors()
        # A second is promised on a free machine; a busy one may take some more.
        assert seconds < SECONDS
        if then:
            assert (process.stdout.readline().strip(), process.wait()) == (then, 0), process.errors()
