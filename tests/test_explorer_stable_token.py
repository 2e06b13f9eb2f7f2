"""The same address at every start at a port that was asked for, and for nobody else."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from consilience.datasets import sample_path
from consilience.explorer import Server
from consilience.explorer.guard import SECRET, UnsafeSecretError, stable_token
from explorer_cases import ASSETS, holes_session

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "consilience"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def started(port: int) -> Iterator[str]:
    """A real explorer of the beads' labels: the address that it prints."""
    command = [sys.executable, "-m", "consilience", "explore", str(sample_path("beads_labels.csv")), "--id", "bead"]
    process = subprocess.Popen(
        [*command, "--no-browser", "--port", str(port)], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )
    assert process.stderr is not None
    try:
        yield next(line.split("ready at ")[1].strip() for line in process.stderr if "ready at " in line)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def answers(address: str) -> bool:
    place, token = address.split("/#token=")
    with urlopen(Request(f"{place}/api/session", headers={"X-Consilience-Token": token}), timeout=60) as reply:
        return bool(reply.status == 200)


def twice_at_one_port(start: Callable[[int], AbstractContextManager[str]]) -> None:
    """Two starts at a port have one address, and the first one's bookmark opens the second."""
    for _ in range(20):
        port, found = free_port(), list[str]()
        for _ in range(2):
            with start(port) as address:
                found.append(address)
                if f":{port}/" not in address:
                    break  # somebody took it meanwhile: another one
                assert answers(found[0])
        else:
            assert found[0] == found[1]
            return
    raise AssertionError("no port stays free")


def test_two_servers_one_after_the_other_have_one_address(state: Path) -> None:
    @contextmanager
    def start(port: int) -> Iterator[str]:
        with Server(holes_session(), port=port, assets=ASSETS) as server:
            yield server.url

    twice_at_one_port(start)


@pytest.mark.slow
def test_two_starts_have_one_address_and_the_first_ones_bookmark_opens_the_second(state: Path) -> None:
    twice_at_one_port(started)
    if sys.platform != "win32":
        assert (state / SECRET).stat().st_mode & 0o777 == 0o600
        assert state.stat().st_mode & 0o777 == 0o700
    assert [one.name for one in state.iterdir()] == [SECRET]


def test_runs_hosts_ports_and_users_differ(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [("a", "127.0.0.1", 1), ("b", "127.0.0.1", 1), ("a", "::1", 1), ("a", "127.0.0.1", 2)]
    tokens = [stable_token(*case) for case in cases]
    assert all(len(token) == 32 for token in tokens)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    tokens += [stable_token(*case) for case in cases]
    assert len(set(tokens)) == 8


def test_a_port_that_nobody_asked_for_or_that_is_taken_has_an_address_for_once(state: Path) -> None:
    with Server(holes_session(), assets=ASSETS) as first, Server(holes_session(), assets=ASSETS) as second:
        assert first.token != second.token
        wanted = stable_token(holes_session().origin.run, "127.0.0.1", first.port)
        with Server(holes_session(), port=first.port, assets=ASSETS) as third:
            assert "is taken" in third.note
            assert third.token != wanted


@POSIX
@pytest.mark.parametrize("harm", ["readable", "folder", "link", "short", "home"])
def test_a_secret_that_others_could_know_is_not_used(state: Path, harm: str) -> None:
    stable_token("a", "h", 1)
    secret = state / SECRET
    if harm == "readable":
        secret.chmod(0o640)
    elif harm == "folder":
        state.chmod(0o777)
    elif harm == "link":
        secret.symlink_to(secret.rename(state / "elsewhere"))
    elif harm == "short":
        secret.write_bytes(b"short")
    else:
        secret.unlink()
        state.rmdir()
        state.write_text("a file")
    with pytest.raises(UnsafeSecretError):
        stable_token("a", "h", 1)
    port = free_port()
    with Server(holes_session(), port=port, assets=ASSETS) as server:
        assert "good for this start alone" in server.note
        assert len(server.token) == 32
    os.chmod(state, 0o700)
