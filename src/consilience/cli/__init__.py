"""The command line: parse, call, write. Its verbs are the words of the flow, in their order."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Any

import click

from consilience._check import InputError, nearest

VERBS = (
    "demo",
    "generate",
    "compare",
    "organize",
    "combine",
    "agree",
    "contrast",
    "report",
    "explore",
    "completion",
)


_said: set[str] = set()  # warnings of this command


class Verbs(click.Group):
    """Commands in the order of the flow, each imported only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All verbs."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb's command, from the module of the same name."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"consilience.cli.{cmd_name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """As click does, but a mistyped verb is answered with the nearest one."""
        if args and not args[0].startswith("-") and args[0] not in VERBS:
            near = nearest(args[0], VERBS)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(VERBS)}."
            ctx.fail(f"No such command {args[0]!r}: {hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="consilience", message="%(prog)s %(version)s")
def program() -> None:
    """Many clusterings of the same data: how they agree, and what each of them found.

    Files in, files out. Exit status 0: done, 1: failed, 2: bad input or bad use.
    """


def main(args: list[str] | None = None) -> None:
    """Run the command line; bad input ends in one sentence and status 2, a failure of the system in status 1."""
    warnings.showwarning = _warn
    _said.clear()
    try:
        program.main(args, prog_name="consilience")
    except InputError as error:
        _say(str(error))
        sys.exit(2)
    except ImportError as error:
        if "pip install" not in str(error):
            raise
        _say(str(error))
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on: end quietly
        sys.exit(1)
    except OSError as error:
        _say(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
        sys.exit(1)
    except MemoryError as error:
        _say(f"not enough memory ({error})" if str(error) else "not enough memory")
        sys.exit(1)


def _say(text: str) -> None:
    click.echo(f"consilience: {text}", err=True)


def _warn(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
    if str(message) not in _said:  # clusterers say the same of every clustering
        _said.add(str(message))
        _say(f"warning: {message}")
