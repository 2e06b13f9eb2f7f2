"""The command line: parse, call, write. Its verbs are the words of the flow, in their order."""

import errno
import os
import re
import sys
import warnings
from importlib import import_module
from typing import Any

import click

from consilience.cli.stopping import stopped, wait_for_sigterm, when_stopped

VERBS = {
    "demo": "Try it: the main job on bundled data.",
    "generate": "Many different clusterings of a table.",
    "compare": "How alike, how stable: all pairs, and against known labels.",
    "organize": "Many clusterings in groups of like ones, and what each group says.",
    "combine": "One clustering from many, with a confidence for every object.",
    "cluster": "Clusters of a table, with a confidence for every object.",
    "assign": "The clusters of new objects, by a model that 'cluster' kept.",
    "agree": "Clusterings of a table of counts that agree: rows and columns together.",
    "contrast": "A new grouping beside the one you know.",
    "report": "One HTML file: what was done, what was found, with what confidence.",
    "explore": "See many clusterings in the browser: choose, refine, take away.",
    "completion": "Print the shell's completion script.",
}
QUOTED = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)"""  # what users wrote, as repr shows it
_NAMED = re.compile(  # keywords with a value, with an underscore, and named as their option
    rf"""{QUOTED}|\b(?:[a-z_]+=(?:'[^']*'|"[^"]*"|\w+)?[ ]\((?P<option>--?[a-zA-Z][^()]*)\)"""
    r"|[a-z]+_[a-z_]+ \((?P<option_>--[a-z][a-z-]*|-[a-zA-Z])\)|(?P<word>[a-z]+) \(--(?P=word)\))"
)
_said: set[str] = set()  # warnings of this command


class Verbs(click.Group):
    """Commands in the order of the flow, each imported only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"consilience.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(verb, help=what) for verb, what in VERBS.items() if verb.startswith(incomplete)]

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in VERBS:
            from consilience._check import check_choice

            check_choice(args[0], VERBS, "command")
        return super().resolve_command(ctx, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="consilience", message="consilience %(version)s")
def program() -> None:
    """Many clusterings of the same data: how they agree, and what each of them found.

    Files in, files out. Exit status 0: done, 1: failed, 2: bad input or bad use, 130 and 143: stopped.
    """


def main(args: list[str] | None = None) -> None:
    when_stopped()
    if args is None:
        wait_for_sigterm(say)
    warnings.showwarning = _warn
    _said.clear()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without these letters shows others
    try:
        typed = sys.argv[1:] if args is None else args
        status = program.main(args, prog_name="consilience", standalone_mode=False, obj=typed)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        say(stopped())
        sys.exit(130)
    except BrokenPipeError:
        _drop_output()  # nobody reads on: end quietly
        sys.exit(1)
    except Exception as error:
        if (sentence := _sentence(error)) is None:
            raise
        say(sentence[1])
        sys.exit(sentence[0])
    sys.exit(status if isinstance(status, int) else 0)


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


def _sentence(error: Exception) -> tuple[int, str] | None:
    """The status and the sentence that an error ends in; None for one of ours that nobody foresaw."""
    from consilience._check import InputError

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


def _warn(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
    if str(message) not in _said:  # clusterers say the same of every clustering
        _said.add(str(message))
        say(f"warning: {message}")
