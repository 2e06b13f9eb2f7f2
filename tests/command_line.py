"""Runs the command line in this process: as a person would type it, without the wait for a new interpreter."""

import contextlib
import io
import warnings
from subprocess import CompletedProcess

from consilience.cli import main


def run(*args):
    """What `consilience ARGS` prints and returns."""
    out, err, status, shown = io.StringIO(), io.StringIO(), 0, warnings.showwarning
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("default")
        # matplotlib 3.8's own, beside the newest pyparsing
        warnings.filterwarnings("ignore", r"'\w+' (argument is )?deprecated")
        try:
            main([str(arg) for arg in args])
        except SystemExit as end:
            status = int(end.code or 0)
        finally:
            warnings.showwarning = shown
    return CompletedProcess(args, status, out.getvalue(), err.getvalue())
