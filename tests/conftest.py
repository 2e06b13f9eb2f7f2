"""What several test files share."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Random examples are the same at every run, so that nobody's change fails by somebody else's luck; `make faults` draws new ones.
SETTLED = settings(
    max_examples=30, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.register_profile("settled", SETTLED)
settings.register_profile("random", SETTLED, max_examples=60, derandomize=False)
settings.load_profile(os.environ.get("CONSILIENCE_EXAMPLES", "settled"))

# A shell starts jobs in the background with Ctrl-C ignored, and their children inherit that: tests send it to them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What is imported by now stays: the garbage collector need not look at it again and again, a tenth of all time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets: CONSILIENCE_DATA, or shared/data next to the repository."""
    given = os.environ.get("CONSILIENCE_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}: set CONSILIENCE_DATA")
    return folder


@pytest.fixture(scope="module", autouse=True)
def _few_resamples(request: pytest.FixtureRequest) -> Iterator[None]:
    """A confidence by 4 resamples, except where a module has ``pytest.mark.full_effort``."""
    if request.node.get_closest_marker("full_effort"):
        yield
        return
    from consilience.consensus.trust import confidence

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence, "RESAMPLES", 4)
        yield


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where matplotlib is not installed."""
    for name in ["matplotlib", "matplotlib.figure", *(name for name in sys.modules if name.startswith("matplotlib."))]:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture(scope="module")
def worker_processes() -> Iterator[Any]:
    """A Dask cluster of two worker processes; tests whose workers die start their own."""
    from dask_cluster import worker_processes

    with worker_processes() as found:
        yield found


@pytest.fixture(scope="module")
def client(worker_processes: Any) -> Iterator[Any]:
    """A client of it, which Dask takes of itself as long as it is open."""
    from dask_cluster import connected

    with connected(worker_processes) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium; without one the test is skipped."""
    from page_server import chromium

    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stored run of clusterings of the beads, made once; tests that add to a run or keep things with it make their own."""
    from page_server import beads_run

    return beads_run(tmp_path_factory.mktemp("page") / "beads")


@pytest.fixture(scope="module")
def server(browser: Any, run: Path) -> Iterator[Any]:
    """The explorer on that run."""
    from page_server import serve_many

    found = serve_many(run)
    yield found
    found.close()
    gc.collect()  # what it leaves open is said now, and not in the test that happens to run when it is collected


@pytest.fixture
def seen(browser: Any, server: Any) -> Iterator[Any]:
    """A visit there, from the first picture on."""
    from page_server import visit

    server.api.session.kept.keep(tray=[], view={})  # of the visit before
    with visit(browser, server.url) as found:
        found.page.wait_for_selector(".tile canvas")
        yield found


@pytest.fixture
def page(seen: Any) -> Any:
    """The page of that visit."""
    return seen.page


@pytest.fixture(scope="module")
def api() -> Any:
    from explorer_cases import Api, beads_session

    return Api(beads_session())


@pytest.fixture(scope="module")
def holes() -> Any:
    from explorer_cases import Api, holes_session

    return Api(holes_session())
