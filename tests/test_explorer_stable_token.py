"""The same address at every start at a port that was asked for, and for nobody else."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from command_line import ran
from consilience.datasets import sample_path
from consilience.explorer import Server, launch
from consilience.explorer.guard import SECRET, UnsafeSecretError, stable_token
from explorer_cases import ASSETS, free_port, holes_session


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "consilience"


def test_two_starts_have_one_address_and_the_first_ones_bookmark_opens_the_second(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, port = list[str](), free_port()

    def wait(server: Server) -> None:
        found.append(server.url)
        place, token = found[0].split("/#token=")
        reply = httpx.get(f"{place}/api/session", headers={"X-Consilience-Token": token}, timeout=60)
        assert reply.status_code == 200

    monkeypatch.setattr(launch, "load_page", lambda: ASSETS)
    monkeypatch.setattr(launch.Server, "wait", wait)
    for _ in range(2):
        ran("explore", sample_path("beads_labels.csv"), "--id", "bead", "--no-browser", "--port", port)
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


HARMS: dict[str, Callable[[Path, Path], Any]] = {
    "readable": lambda folder, secret: secret.chmod(0o640),
    "folder": lambda folder, secret: folder.chmod(0o777),
    "link": lambda folder, secret: secret.symlink_to(secret.rename(folder / "elsewhere")),
    "short": lambda folder, secret: secret.write_bytes(b"short"),
    "home": lambda folder, secret: (secret.unlink(), folder.rmdir(), folder.write_text("a file")),
}


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize("harm", HARMS)
def test_a_secret_that_others_could_know_is_not_used(state: Path, harm: str) -> None:
    stable_token("a", "h", 1)
    HARMS[harm](state, state / SECRET)
    with pytest.raises(UnsafeSecretError):
        stable_token("a", "h", 1)
    with Server(holes_session(), port=free_port(), assets=ASSETS) as server:
        assert "good for this start alone" in server.note
        assert len(server.token) == 32
    os.chmod(state, 0o700)
