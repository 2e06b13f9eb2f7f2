"""The explorer's calls, without a browser: what the server needs for each (the page itself: benchmarks/page.py)."""

import json

import numpy as np

from benchmarks.meta import _kinds
from benchmarks.timing import cpu
from consilience.explorer.api import Api
from consilience.explorer.session import Session
from consilience.tables import Table

BRANCH = 300  # clusterings of the branch whose consensus is measured
REPEATS = 5


def explorer_5000():
    """5,000 clusterings × 990 objects × 10 features."""
    return _measured(_kinds(990, 5008, 15)[:, :5000], 10, {"consensus": 250, "boot": 150, "labels": 5, "detail": 300})


def explorer_of_100000():
    """1,000 clusterings × 100,000 objects × 20 features."""
    bars = {"consensus": 1000, "boot": 150, "labels": 5, "detail": 300}
    return _measured(_kinds(100_000, 1008, 15)[:, :1000], 20, bars)


def _measured(ensemble, width, bars):
    values = np.random.default_rng(0).standard_normal((ensemble.n_objects, width))
    data = Table(values, "data", None, [f"f{i}" for i in range(width)], None, "numbers")
    seconds, api = cpu(lambda: Api(Session(ensemble, data=data, progress=False)))
    snapshot = api.session.snapshot
    near = np.argsort(np.abs(snapshot.newest.sizes - BRANCH), kind="stable")[:REPEATS]
    branches = [snapshot.top(node, "c") for node in near]
    leaves = range(REPEATS)
    paths = {
        "boot": ["boot"],
        "labels": [f"labels/{leaf}m" for leaf in leaves],
        "consensus": [f"labels/{ref}" for ref in branches],
        "detail": [f"detail/{leaf}m" for leaf in leaves],
        "compare": [f"compare/{leaf}m/{leaf + 1}m" for leaf in leaves],
        "components": [f"components/{ref}" for ref in branches],
        "objects": [f"objects/{ref}" for ref in branches],
    }
    found = {"start_cpu_s": round(seconds, 2), "branch": int(snapshot.newest.sizes[near].max())}
    for name, asked in paths.items():
        found[f"{name}_cpu_ms"] = round(1000 * max(cpu(lambda path=path: _ask(api, path))[0] for path in asked), 1)
    items = [{"ref": f"{leaf}m", "name": f"{leaf}"} for leaf in range(64)]
    body = json.dumps({"format": "csv", "items": items}).encode()
    found["export_64_cpu_ms"] = round(1000 * cpu(lambda: api.call("POST", "/api/export", {}, body))[0])
    return found | {
        **{f"bar_{name}_cpu_ms": bar for name, bar in bars.items()},
        "ok": all(found[f"{name}_cpu_ms"] <= bar for name, bar in bars.items()),
    }


def _ask(api, path):
    reply = api.call("GET", f"/api/{path}")
    assert reply.status == 200, reply.body


CASES = [explorer_5000, explorer_of_100000]
