"""consilience completion: let the shell complete verbs, options and measures."""

import click
from click.shell_completion import get_completion_class

from consilience.cli import shared_options as options

SHELLS = ("bash", "zsh", "fish")


@options.verb("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script of SHELL. To switch it on:

    \b
    eval "$(consilience completion bash)"   # in ~/.bashrc
    eval "$(consilience completion zsh)"    # in ~/.zshrc
    consilience completion fish | source    # in ~/.config/fish/config.fish
    """
    from consilience.cli import program

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(program, {}, "consilience", "_CONSILIENCE_COMPLETE").source())
