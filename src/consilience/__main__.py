"""The command line: ``consilience …`` and ``python -m consilience …`` begin here, with as little imported as can be."""

import signal
import sys
from typing import Any


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it as quietly as later."""
    interrupts = []

    def interrupt(*_: Any) -> None:
        interrupts.append(True)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    try:
        from consilience.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception:
        if not interrupts:
            raise
        sys.exit(130)  # NumPy that is interrupted while it is imported fails in other words


if __name__ == "__main__":
    main()
