"""Scripts in processes of their own that have imported fctree already.

An import takes longer than most of these scripts. So they run in copies (`fork`) of one process that
has done nothing but import.
"""

import multiprocessing
import os
import sys
import tempfile
from functools import cache


@cache
def importer():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "fctree.inspection"])  # multiprocessing imports the main program: pytest
    return context


def run(code, arguments, output, errors):
    """In the copy: what a new interpreter does with `-c code arguments`."""
    os.dup2(output.fileno(), 1)
    os.dup2(os.open(errors, os.O_WRONLY), 2)
    multiprocessing.set_start_method(None, force=True)
    sys.argv[1:] = arguments
    exec(code, vars(sys.modules["__main__"]))


class Script:
    """A running script, with the names of `subprocess.Popen`; killed at the end of its context."""

    def __init__(self, code, *arguments):
        reader, writer = importer().Pipe(duplex=False)
        self._errors = tempfile.NamedTemporaryFile("r")
        self._process = importer().Process(target=run, args=(code, list(map(str, arguments)), writer, self._errors.name))
        self._process.start()
        writer.close()
        self.stdout = os.fdopen(os.dup(reader.fileno()))
        reader.close()

    def send_signal(self, number):
        os.kill(self._process.pid, number)

    def wait(self, timeout=60):
        self._process.join(timeout)
        assert not self._process.is_alive(), f"not at its end after {timeout} s"
        return self._process.exitcode

    def errors(self):
        """The text written to stderr so far."""
        self._errors.seek(0)
        return self._errors.read()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._process.kill()
        self._process.join()
        self.stdout.close()
        self._errors.close()
