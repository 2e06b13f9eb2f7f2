"""The command line: ``consilience …`` and ``python -m consilience …`` begin here, with as little imported as can be."""

import os
import signal
import sys
import threading
from typing import Any

SOON = 0.05  # seconds


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it as quietly as later."""
    interrupts = []

    def interrupt(*_: Any) -> None:
        interrupts.append(True)
        raise KeyboardInterrupt

    def again(lost: Any, others: Any = sys.unraisablehook) -> None:
        """Ctrl-C that met a finalizer, where Python only reports exceptions, comes again a moment later."""
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            others(lost)
            return
        timer = threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT))
        timer.daemon = True
        timer.start()

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
        sys.unraisablehook = again
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
