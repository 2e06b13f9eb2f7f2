"""The command line: ``consilience …`` and ``python -m consilience …`` begin here, with as little imported as can be."""

import os
import signal
import sys
from typing import Any

SOON = 0.05  # safeguard: seconds after which an interrupt that was lost in a finalizer comes again


def _interrupt(*_: Any) -> None:
    if not _begun:
        os._exit(130)
    _interrupts.append(True)
    raise KeyboardInterrupt


def _terminate(*_: Any) -> None:
    os.write(2, b"consilience: stopped\n")
    os._exit(128 + signal.SIGTERM)


# At once, and not in main(), so that a command which is stopped while it is being imported ends as quietly as later.
_begun: list[bool] = []
_interrupts: list[bool] = []
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _interrupt)
if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
    signal.signal(signal.SIGTERM, _terminate)


def main() -> None:
    import threading

    def again(lost: Any, others: Any = sys.unraisablehook) -> None:
        """Ctrl-C that met a finalizer, where Python only reports exceptions, comes again a moment later."""
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            others(lost)
            return
        timer = threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT))
        timer.daemon = True
        timer.start()

    if signal.getsignal(signal.SIGINT) is _interrupt:
        sys.unraisablehook = again
    try:
        _begun.append(True)
        from consilience.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception:
        if not _interrupts:
            raise
        sys.exit(130)  # NumPy that is interrupted while it is imported fails in other words


if __name__ == "__main__":
    main()
