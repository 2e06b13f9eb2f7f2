"""The same address at every start at a port that was asked for, and for nobody else."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
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


def start(port: int) -> tuple[subprocess.Popen[str], str]:
    """A real explorer of the beads' labels, and the address that it prints."""
    command = [sys.executable, "-m", "consilience", "explore", str(sample_path("beads_labels.csv")), "--id", "bead"]
    process = subprocess.Popen(
        [*command, "--no-browser", "--port", str(port)], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "ready at " in line:
            return process, line.split("ready at ")[1].strip()
    raise AssertionError("it did not start")


def answers(address: str) -> bool:
    place, token = address.split("/#token=")
    with urlopen(Request(f"{place}/api/session", headers={"X-Consilience-Token": token}), timeout=20) as reply:
        return bool(reply.status == 200)


def test_two_servers_one_after_the_other_have_one_address(state: Path) -> None:
    port, found = free_port(), []
    for _ in range(2):
        with Server(holes_session(), port=port, assets=ASSETS) as server:
            found.append(server.url)
            assert answers(found[0])
    assert found[0] == found[1]


@pytest.mark.slow
def test_two_starts_have_one_address_and_the_first_ones_bookmark_opens_the_second(state: Path) -> None:
    port, found = free_port(), []
    for _ in range(2):
        process, address = start(port)
        try:
            found.append(address)
            assert answers(found[0])
        finally:
            process.terminate()
            process.communicate(timeout=20)
    assert found[0] == found[1]
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
    if harm == "readable":
        (state / SECRET).chmod(0o640)
    elif harm == "folder":
        state.chmod(0o777)
    elif harm == "link":
        (state / SECRET).rename(state / "elsewhere")
        (state / SECRET).symlink_to(state / "elsewhere")
    elif harm == "short":
        (state / SECRET).write_bytes(b"short")
    else:
        (state / SECRET).unlink()
        state.rmdir()
        state.write_text("a file")
    with pytest.raises(UnsafeSecretError):
        stable_token("a", "h", 1)
    port = free_port()
    with Server(holes_session(), port=port, assets=ASSETS) as server:
        assert "good for this start alone" in server.note
        assert len(server.token) == 32
    os.chmod(state, 0o700)
