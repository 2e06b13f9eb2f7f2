"""Runs the command line in this process: as a person would type it, without the wait for a new interpreter."""

import contextlib
import io
import json
import subprocess
import sys
import warnings

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
    return subprocess.CompletedProcess(args, status, out.getvalue(), err.getvalue())


def ran(*args):
    """The same of a command that must end well."""
    done = run(*args)
    assert done.returncode == 0, done.stderr
    return done


def answer(*args):
    """What it answers for machines."""
    return json.loads(ran(*args, "--json").stdout)


def apart(*words, **options):
    """What a Python of its own prints and returns."""
    words = [sys.executable, *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def log_lines(path):
    """What a run log holds."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def refused(*args):
    """The sentence, on one line, of a command that must refuse, and prints nothing."""
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())
