"""The command line: parse, call, write. Its verbs are the words of the flow, in their order."""

import sys
import warnings
from importlib import import_module
from typing import Any

import click

from consilience.cli.errors import exit_status, say
from consilience.cli.sigterm import wait_for_sigterm, when_stopped

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
_said: set[str] = set()  # warnings of this command


class Verbs(click.Group):
    """Commands in the order of the flow, each imported only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return import_module(f"consilience.cli.{cmd_name}").command if cmd_name in VERBS else None

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
    except (Exception, KeyboardInterrupt) as error:
        if (status := exit_status(error)) is None:
            raise
    sys.exit(status if isinstance(status, int) else 0)


def _warn(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
    if str(message) not in _said:  # clusterers say the same of every clustering
        _said.add(str(message))
        say(f"warning: {message}")
