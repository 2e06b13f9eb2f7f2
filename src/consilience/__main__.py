"""The command line: ``consilience …`` and ``python -m consilience …`` begin here, with as little imported as can be."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it as quietly as later."""
    try:
        from consilience.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
