"""Files and folders that appear whole: through names nobody can guess, and as what they were; bars without standard error."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from unittest.mock import Mock

import pytest

from consilience import Ensemble
from consilience._run.progress import Bar
from consilience._whole_files import check_folder, write_folder, write_whole
from samples import refuses

posix = pytest.mark.skipif(os.name != "posix", reason="links, modes and pipes of POSIX")


def write(path: Path, text: str = "new") -> None:
    write_whole(path, lambda file: file.write(text.encode()))


def folder_of(text: str):
    def fill(folder: Path) -> None:
        folder.mkdir()
        (folder / "content").write_text(text)

    return fill


@posix
def test_a_name_that_is_taken_is_never_written_through(tmp_path, monkeypatch):
    (tmp_path / "victim").write_text("precious")
    monkeypatch.setattr("consilience._whole_files.secrets.token_hex", lambda _: "guessed")
    os.symlink("victim", tmp_path / ".unfinished-guessed-out")
    with pytest.raises(OSError, match="out"):
        write(tmp_path / "out")
    assert (tmp_path / "victim").read_text() == "precious"
    assert not (tmp_path / "out").exists()


@posix
@pytest.mark.parametrize("mode", [None, 0o600, 0o666])
def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual(tmp_path, mode):
    path, usual = tmp_path / "out", tmp_path / "usual"
    usual.touch()
    if mode is not None:
        usual.chmod(mode)
        path.touch()
        path.chmod(mode)
    write(path)
    assert path.stat().st_mode == usual.stat().st_mode
    assert path.read_text() == "new"


@posix
def test_a_link_stays_and_its_target_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "target").write_text("old")
    os.symlink("there/target", tmp_path / "out")
    write(tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "there" / "target").read_text() == "new"
    os.symlink("there/missing", tmp_path / "dangling")
    write(tmp_path / "dangling")
    assert (tmp_path / "there" / "missing").read_text() == "new"


@posix
def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refuses("pipe is not a regular file, so it is not replaced: choose another path", write, tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_full_disk_names_the_file(tmp_path):
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(tmp_path / "out", Mock(side_effect=OSError(28, "No space left on device")))
    assert caught.value.filename == str(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_names_of_any_length(tmp_path):
    name = "鳥" * 80 + ".csv"
    write(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_what_a_killed_process_left_is_removed(tmp_path):
    (tmp_path / ".replaced-0123-run").mkdir()
    (tmp_path / ".replaced-0123-another").mkdir()
    write_folder(tmp_path / "run", folder_of("one"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [".replaced-0123-another", "run"]


@pytest.mark.parametrize("exchange", [True, False])
def test_many_may_replace_a_folder_at_the_same_time(tmp_path, monkeypatch, exchange):
    if not exchange:
        monkeypatch.setattr("consilience._whole_files._exchange", lambda *_: False)
    errors = []

    def some(text):
        try:
            for _ in range(15):
                write_folder(tmp_path / "run", folder_of(text))
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=some, args=(str(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    while exchange and sys.platform == "linux" and any(thread.is_alive() for thread in threads):
        assert (tmp_path / "run").exists() or not list(tmp_path.glob(".replaced-*"))
    for thread in threads:
        thread.join()
    assert errors == []
    assert (tmp_path / "run" / "content").read_text() in "0123"
    write_folder(tmp_path / "run", folder_of("last"))
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@posix
def test_save_over_a_link_replaces_what_it_points_to(tmp_path):
    ens = Ensemble({"a": ["x", "y"], "b": ["y", "y"]})
    ens.save(tmp_path / "run")
    os.symlink("run", tmp_path / "link")
    ens[:, :1].save(tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "run"]
    assert Ensemble.load(tmp_path / "run").names == ["a"]


def test_the_current_folder_is_refused_before_anything_is_done(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (".", tmp_path, f"../{tmp_path.name}"):
        refuses("is the folder you are in: give the name of a new one", Ensemble([[0, 1]]).save, path)
    assert not list(tmp_path.iterdir())
    assert check_folder("run") == tmp_path / "run"


@pytest.mark.parametrize("progress", [None, True, False])
def test_no_bar_without_standard_error(monkeypatch, progress):
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr("consilience._run.progress.QUIET", -1)
    with Bar(3, "things", progress) as bar:
        bar.advance()


@posix
def test_work_without_standard_error():
    code = "import consilience as cs; cs.organize([[0, 0, 1], [0, 1, 1], [0, 1, 0]])"
    assert subprocess.run(["sh", "-c", f'exec "{sys.executable}" -c "{code}" 2>&-'], check=False).returncode == 0
