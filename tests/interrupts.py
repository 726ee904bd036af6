"""Ctrl-C for a process of a test, and how long it may take to be heard.

The bound is generous: it tells a hang from an end, and does not measure speed. Sanitizers take several
times as long.
"""

import os
import signal
import time

SECONDS = 60 if os.environ.get("FCTREE_SANITIZED") else 5


def interrupt(process, wait):
    """The line that a process says after SIGINT, sent `wait` seconds after it said "ready", and the
    seconds until then."""
    assert process.stdout.readline().strip() == "ready"
    time.sleep(wait)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    line = process.stdout.readline().strip()
    return line, time.monotonic() - sent
