"""The explorer's server: the page's files, a socket on this machine, a token, the browser, and a clean end."""

import ipaddress
import os
import re
import secrets
import signal
import socket
import sys
import threading
import time
import warnings
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from consilience._check import InputError, show
from consilience.explorer.session import Session

STATIC = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/explorer.js": ("explorer.js", "text/javascript; charset=utf-8"),
    "/explorer.css": ("explorer.css", "text/css; charset=utf-8"),
}


class PageMissingError(InputError):
    """The package was built without its page."""


class Asset(NamedTuple):
    body: bytes
    content_type: str


Assets = dict[str, Asset]  # by their paths


def static_folder() -> Path:
    return Path(str(files("consilience") / "explorer" / "static"))


def load_page(folder: Path | None = None) -> Assets:
    folder = static_folder() if folder is None else folder
    try:
        return {path: Asset((folder / name).read_bytes(), kind) for path, (name, kind) in STATIC.items()}
    except FileNotFoundError:
        lost = "the explorer's page is not in this installation, which was built without Node.js, npm or a network"
        remedy = "install Node.js 18 or newer and reinstall consilience, or run 'make page' in a checkout"
        raise PageMissingError(f"{lost}: {remedy}") from None


class Server:
    """A running explorer, in a thread of its own.

    Parameters
    ----------
    session : Session
    host : str
        The address to listen at: by default this machine alone.
    port : int
        0 takes a free one; so does a port that is taken.
    token : str, optional
        What every call must bring; by default 128 random bits.
    assets : dict, optional
        The files of the page; by default those of the package.

    Attributes
    ----------
    url : str
        The address to open, with its token.
    token : str
        What every call must bring.
    note : str
        What the user should know about the address; empty as a rule.
    """

    def __init__(
        self, session: Session, *, host: str = "127.0.0.1", port: int = 0, token: str = "", assets: Assets | None = None
    ) -> None:
        assets = prepare(host) if assets is None else assets
        import uvicorn

        from consilience.explorer.api import Api
        from consilience.explorer.guard import EndingServer, Guard, LimitedProtocol, Tokens, page_routes

        address = check_host(host)
        self._socket, self.note = _bind(address, port)
        if not ipaddress.ip_address(self._socket.getsockname()[0]).is_loopback:
            who = "everybody who can reach this address and has the token in the link"
            warnings.warn(f"{host}: {who} sees the data, which is not encrypted on its way", stacklevel=2)
        self.port = int(self._socket.getsockname()[1])
        self.token = token or secrets.token_hex(16)
        self._tokens = Tokens(self.token)
        named = f"[{address}]" if ":" in address else address
        self.api = Api(session, page_routes(assets, self._tokens))
        names = {"127.0.0.1", "localhost", "[::1]", named}  # in Host headers; browsers leave the port out if it is 80
        hosts = {f"{name}:{self.port}" for name in names} | (names if self.port == 80 else set())
        config = uvicorn.Config(
            Guard(self.api.app, self._tokens, hosts),
            # h11 refuses doubled Host headers and bad lengths by itself.
            http=partial(LimitedProtocol, self._tokens),  # type: ignore[arg-type]
            ws="none",
            lifespan="off",
            log_config=None,  # how a process logs is its own affair
            log_level="error",  # what strangers send is not worth a line
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
        self._server = EndingServer(config)
        self._thread = threading.Thread(target=self._serve, name="explorer", daemon=True)
        self._ended = threading.Event()  # Ctrl-C in a thread's `join` makes that thread pass for one that has ended
        self._address = f"http://{named}:{self.port}/"

    def _serve(self) -> None:
        try:
            self._server.run([self._socket])
        finally:
            self._ended.set()

    @property
    def url(self) -> str:
        """The address to open, with its token."""
        return f"{self._address}#token={self.token}"

    def open_browser(self) -> None:
        """Open the page where there is a display, in a thread of its own: some browsers return only when they are closed.

        The command line of a browser can be seen by other users, so the address holds a code that works once.
        """
        if sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
            url = f"{self._address}#code={self._tokens.new_code()}"
            threading.Thread(target=_open_browser, args=(url,), name="browser", daemon=True).start()

    def start(self) -> "Server":
        """Begin to answer; a server that answers already is left alone."""
        if self._server.started:
            return self
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.005)
        if not self._server.started:
            raise OSError("the explorer's server could not start")
        return self

    def wait(self) -> None:
        """Block until the server ends, or Ctrl-C."""
        while not self._ended.wait(0.5):
            pass

    def close(self) -> None:
        """Stop the job under way, and the server."""
        self.api.close()
        self._server.should_exit = True
        if self._thread.ident is not None:  # it was started
            self._ended.wait(10)
        self._socket.close()

    def __repr__(self) -> str:
        return f"Explorer at {self.url}"

    def __enter__(self) -> "Server":
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.close()


def prepare(host: str) -> Assets:
    """The page's files; refused at once, before any work is done, where the explorer could not be shown."""
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise ImportError("the explorer needs Starlette and uvicorn: pip install 'consilience[explore]'")
    _bind(check_host(host), 0)[0].close()
    return load_page()


def check_host(host: str) -> str:
    name = host.strip("[]") if isinstance(host, str) else ""
    if not re.fullmatch(r"[\w.:-]+", name):
        raise InputError(f"the host must be an address or a name of this machine; got {show(host)}")
    return "127.0.0.1" if name == "localhost" else name


def _bind(host: str, port: int) -> tuple[socket.socket, str]:
    """A listening socket; at another port if the wanted one is taken."""
    if not 0 <= port < 2**16:
        raise InputError(f"a port is a number from 0 to 65535; got {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    note = ""
    for number in dict.fromkeys([port, 0]):
        # the protocol by its name, or answers wait for each other (Nagle)
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if os.name == "posix":  # elsewhere it would let two servers share a port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, number))
        except OSError as error:
            found.close()
            if isinstance(error, socket.gaierror):
                said = f"{host} is not an address of this machine"
                raise InputError(f"{said}: leave --host out for this machine alone") from None
            if number == 0:
                raise InputError(f"the explorer cannot listen at {host}: {error.strerror}") from None
            is_closed = isinstance(error, PermissionError)
            note = f"port {number} is {'not open to you' if is_closed else 'taken'}; took another"
        else:
            break
    if ipaddress.ip_address(found.getsockname()[0]).is_unspecified:
        found.close()
        said = f"{host} would answer at every address"
        raise InputError(f"{said}: name the one that you will open, since requests are checked against it")
    found.listen(128)
    found.set_inheritable(False)
    return found, note


def _open_browser(url: str) -> None:
    """Open the page; a command line blocks SIGTERM, which the browser must not inherit."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    with suppress(webbrowser.Error):
        webbrowser.open(url)


def run(server: Server, *, browser: bool, say: Callable[[str], Any]) -> None:
    with server:
        if server.note:
            say(f"{server.note}.")
        try:
            say(f"The explorer is ready at {server.url}")
            say("Press Ctrl-C to end it.")
            if browser:
                server.open_browser()
            server.wait()
        except KeyboardInterrupt:
            say("\nThe explorer has ended.")
