"""The peers, where their interpreters are, and how to make environments for those that pip has."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SIDES = Path(__file__).parent / "sides"
RUN = Path(__file__).parent / "run_side.py"
PIP: dict[str, list[list[str]]] = {
    # Without their own pins, which have no wheels for Python 3.11, on the newest SciPy that they still run on.
    "old": [
        [
            "numpy==1.26.4",
            "scipy==1.10.1",
            "scikit-learn==1.3.2",
            "pandas==2.1.4",
            "networkx==2.8.8",
            "matplotlib==3.11.2",
        ],
        ["hdbscan==0.8.40", "pymetis==2025.2.2", "kahypar==1.3.7"],
        ["--no-deps", "ensembleclustering==1.0.2", "OpenEnsembles==2.0.0"],
    ],
    "new": [
        [
            "clusim==0.4",
            "ClustAssessPy==1.0.2",
            "consensusclustering==0.2.4",
            "sib-clustering==0.2.7",
            "crowd-kit==1.4.2",
        ],
        ["pyckmeans==0.9.4"],
    ],
    "sc3s": [["numpy==1.26.4", "sc3s==0.1.1"]],
    "density": [["fast-plscan==0.2.1", "genieclust==1.3.0"]],
    # Its torch is for parts that are not used here.
    "clustpy": [
        ["numpy==2.2.6", "scipy", "scikit-learn", "pandas", "matplotlib", "pillow", "setuptools", "wheel", "cython"],
        ["--no-deps", "--no-build-isolation", "clustpy==0.0.3"],
    ],
}


@dataclass(frozen=True)
class Peer:
    """A package beside ours.

    Attributes
    ----------
    name : str
        In tables.
    package : str
        What its version is asked of.
    where : str
        A folder of the peers' folder, "here" (this interpreter), "R" or "octave".
    """

    name: str
    package: str
    where: str

    def command(self, side: str, function: str, work: Path, peers: Path | None) -> list[str] | None:
        """What runs one of its functions on the inputs in `work`; None if it is not on this machine."""
        if self.where == "R":
            rscript = shutil.which("Rscript")
            if rscript is None or not _r_has(rscript, self.package):
                return None
            return [rscript, str(RUN.with_suffix(".R")), str(SIDES / f"{side}.R"), function, str(work), self.package]
        if self.where == "octave":
            octave, code = shutil.which("octave-cli"), None if peers is None else peers / self.package
            if octave is None or code is None or not code.is_dir():
                return None
            return [octave, str(SIDES / f"{side}.m"), str(code), function, str(work)]
        python = Path(sys.executable)
        if self.where != "here":
            python = (peers or Path("absent")) / self.where / "bin" / "python"
        if not python.exists():
            return None
        return [str(python), str(RUN), str(SIDES / f"{side}.py"), function, str(work), self.package]


def _r_has(rscript: str, package: str) -> bool:
    asked = [rscript, "-e", f'quit(status = !requireNamespace("{package}", quietly = TRUE))']
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


# By the names of their files in sides/.
PEERS = {
    "consilience": Peer("consilience", "consilience", "here"),
    "scikit_learn": Peer("scikit-learn", "scikit-learn", "here"),
    "plain": Peer("plain NumPy", "numpy", "here"),
    "ensembleclustering": Peer("ensembleclustering", "ensembleclustering", "old"),
    "openensembles": Peer("OpenEnsembles", "OpenEnsembles", "old"),
    "clusim": Peer("clusim", "clusim", "new"),
    "ClustAssessPy": Peer("ClustAssessPy", "ClustAssessPy", "new"),
    "consensusclustering": Peer("consensusclustering", "consensusclustering", "new"),
    "pyckmeans": Peer("pyckmeans", "pyckmeans", "new"),
    "sib": Peer("sib-clustering", "sib-clustering", "new"),
    "crowdkit": Peer("crowd-kit", "crowd-kit", "new"),
    "clustpy": Peer("ClustPy", "clustpy", "clustpy"),
    "sc3s": Peer("sc3s", "sc3s", "sc3s"),
    "plscan": Peer("PLSCAN", "fast-plscan", "density"),
    "genie": Peer("genieclust", "genieclust", "density"),
    "clue": Peer("clue (R)", "clue", "R"),
    "ConsensusClusterPlus": Peer("ConsensusClusterPlus (R)", "ConsensusClusterPlus", "R"),
    "locally_weighted": Peer("LWEA_LWGP (Octave)", "LWEA_LWGP", "octave"),
}


def install(peers: Path, only: Iterable[str] | None = None) -> None:
    """Make the environments of these peers (by default of all) that are not whole yet; what fails is named, and the rest is made."""
    wanted = {PEERS[name].where for name in (PEERS if only is None else only)}
    for name, steps in PIP.items():
        whole = peers / name / "installed"
        if name not in wanted or whole.exists():
            continue
        subprocess.run([sys.executable, "-m", "venv", str(peers / name)], check=True)
        failed = [words for words in steps if not _pip(peers / name / "bin" / "python", words)]
        if not failed:
            whole.touch()
        for words in failed:
            print(f"{name}: pip could not install {' '.join(words)}; the next --install tries again", file=sys.stderr)


def _pip(python: Path, words: list[str]) -> bool:
    asked = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *words]
    return subprocess.run(asked, check=False).returncode == 0
