"""Errors of the command line, and all that it says on standard error: one sentence, and the exit status."""

import errno
import os
import re
import sys

import click

from consilience.cli.sigterm import stopped

QUOTED = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)"""  # what users wrote, as repr shows it
_NAMED = re.compile(  # keywords with a value, with an underscore, and named as their option
    rf"""{QUOTED}|\b(?:[a-z_]+=(?:'[^']*'|"[^"]*"|\w+)?[ ]\((?P<option>--?[a-zA-Z][^()]*)\)"""
    r"|[a-z]+_[a-z_]+ \((?P<option_>--[a-z][a-z-]*|-[a-zA-Z])\)|(?P<word>[a-z]+) \(--(?P=word)\))"
)


def exit_status(error: BaseException) -> int | None:
    """The status that an error ends the command with, once it is said; None for one of ours that nobody foresaw."""
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        _drop_output()  # nobody reads on: end quietly
        return 1
    if found := _sentence(error):
        say(found[1])
    return found and found[0]


def _drop_output() -> None:
    """Let what is still to be printed go nowhere, or Python would complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_output_full() -> bool:
    """Whether what was printed cannot be written, such as to a full disk; then nothing more is."""
    try:
        print(flush=True)
    except OSError:
        _drop_output()
        return True
    return False


def _sentence(error: BaseException) -> tuple[int, str] | None:
    """The status and the sentence that an error ends in; None for one of ours that nobody foresaw."""
    from consilience._check import InputError

    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return 130, stopped()
    if isinstance(error, InputError):
        return 2, str(error)
    if isinstance(error, ImportError):
        return (1, str(error)) if "pip install" in str(error) else None
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO) and not error.filename and _is_output_full()
        where = "standard output" if full else error.filename
        return 1, f"{where}: {error.strerror}" if where and error.strerror else str(error)
    if isinstance(error, MemoryError):
        return 1, f"not enough memory ({error})" if str(error) else "not enough memory"
    return None


def say(text: str) -> None:
    """A sentence on standard error; what is not printable never reaches the terminal."""
    from consilience._check import printable

    click.echo(f"consilience: {printable(as_typed(text), keep='')}", err=True)


def as_typed(text: str) -> str:
    """A sentence that names keywords of Python and their options, with the options alone; what users wrote stays.

    >>> as_typed("no column 'a_b (--log)' for id_column (--id): lower n_clusters (-k), or say known='type' (--known type)")
    "no column 'a_b (--log)' for --id: lower -k, or say --known type"
    """
    return _NAMED.sub(lambda m: m["option"] or m["option_"] or (f"--{m['word']}" if m["word"] else m[0]), text)
