"""The route list of the explorer under fire: whatever is sent, there is an answer, it is quick, and it is never a 500."""

import json
import string
from urllib.parse import quote, urlencode

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consilience.explorer.api import Api
from consilience.explorer.server import Server
from explorer_cases import ASSETS, TOKEN, beads_session, holes_session

FINE = {200, 202, 304, 400, 401, 403, 404, 405, 408, 409, 411, 413, 415, 421, 429}
FIRE = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck), derandomize=True)

NUMBERS = st.one_of(
    st.integers(-3, 130).map(str),
    st.integers().map(str),
    st.sampled_from(["0", "00", "-0", "1e9", "999999999", "9999999999", "٣", "²", " 1", "1 ", "0x1", "1_0", "NaN", ""]),
)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
REFS = st.one_of(
    st.tuples(st.integers(0, 125), st.sampled_from("mc")).map(lambda pair: f"{pair[0]}{pair[1]}"),
    st.tuples(st.integers(0, 70), st.integers(0, 140), st.sampled_from("mc")).map(lambda x: f"{x[0]}.{x[1]}{x[2]}"),
    st.tuples(NUMBERS, NUMBERS, ANY).map(lambda x: f"{x[0]}.{x[1]}{x[2]}"),
    ANY,
)
GETS = st.one_of(
    st.sampled_from(["session", "boot", "agreement", "jobs", "export", "", "map/", "labels/", "compare//"]),
    st.tuples(st.sampled_from(["detail", "components", "objects"]), REFS).map("/".join),
    st.lists(REFS, max_size=5).map(lambda refs: f"labels/{','.join(refs)}"),
    st.tuples(REFS, REFS).map(lambda refs: f"compare/{refs[0]}/{refs[1]}"),
    NUMBERS.map(lambda number: f"jobs/{number}"),
    ANY.map(lambda kind: f"map/{kind}"),
    ANY,
)
QUERIES = st.dictionaries(
    st.one_of(st.sampled_from(["start", "count", "cluster", "order"]), ANY), st.one_of(NUMBERS, ANY), max_size=4
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY | REFS | st.sampled_from(["accuracy:shape", "csv"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
    max_leaves=6,
)
ITEMS = st.lists(
    st.fixed_dictionaries({}, optional={"ref": VALUES | REFS, "name": VALUES | ANY, "more": VALUES}), max_size=4
)
BODIES = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["null", "more_like"]) | VALUES},
        optional=dict.fromkeys(("ref", "count", "jitter", "groups", "score", "shuffles"), VALUES),
    ),
    st.fixed_dictionaries(
        {"format": st.sampled_from(["csv", "parquet", "python"]) | VALUES, "items": ITEMS | VALUES},
        optional={"assessed": st.booleans() | VALUES},
    ),
    VALUES,
)
SENT = st.one_of(BODIES.map(lambda body: json.dumps(body).encode()), st.binary(max_size=60))
METHODS = ["GET", "GET", "POST", "DELETE", "HEAD", "PUT", "OPTIONS", "PATCH"]


@pytest.fixture(scope="module", params=[beads_session, holes_session])
def api(request):
    found = Api(request.param())
    yield found
    found.close()


def check(reply):
    assert reply.status in FINE, reply.body
    if reply.status >= 400:
        assert list(json.loads(reply.body)) == ["error"]
        assert "\n" not in json.loads(reply.body)["error"]


@settings(FIRE, max_examples=100)
@given(path=st.sampled_from(["jobs", "export"]), body=SENT)
def test_posts(api, path, body):
    check(api.call("POST", f"/api/{path}", {}, body))
    api.close()


@settings(FIRE, max_examples=100)
@given(
    method=st.just("GET") | st.text(string.ascii_uppercase, min_size=1, max_size=8),
    path=GETS,
    query=QUERIES,
    body=st.binary(max_size=20),
)
def test_gets_and_any_method(api, method, path, query, body):
    check(api.call(method, f"/api/{path}", query, body))


@pytest.fixture(scope="module")
def served():
    with Server(beads_session(), token=TOKEN, assets=ASSETS) as server, httpx.Client(timeout=60) as client:
        client.base_url = f"http://127.0.0.1:{server.port}"
        yield client, server


HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "X-Consilience-Token": st.sampled_from([TOKEN, TOKEN, TOKEN, "x"]),
        "Host": st.sampled_from(["own", "own", "evil.example", "[::1]"]),
        "Origin": st.sampled_from(["own", "own", "null", "http://evil.example"]),
        "Content-Type": st.sampled_from(["application/json", "application/json", "text/plain"]),
        "If-None-Match": st.text(string.printable[:94], max_size=9),
        "Range": st.just("bytes=0-1"),
    },
)


@settings(FIRE, max_examples=40)
@given(
    method=st.sampled_from(METHODS),
    path=st.one_of(GETS.map(lambda path: f"api/{path}"), ANY),
    query=QUERIES,
    headers=HEADERS,
    body=SENT,
)
def test_over_http(served, method, path, query, headers, body):
    client, server = served
    own = {"Host": f"127.0.0.1:{server.port}", "Origin": f"http://127.0.0.1:{server.port}"}
    sent = {name: own[name] if value == "own" else value for name, value in headers.items()}
    address = f"/{quote(path, safe='/,.%')}?{urlencode(query)}"
    found = client.request(method, address, headers={"X-Consilience-Token": TOKEN, **sent}, content=body)
    assert found.status_code in FINE
    if found.status_code >= 400 and method != "HEAD":
        assert list(found.json()) == ["error"]
    assert found.headers["x-content-type-options"] == "nosniff"
    server.api.jobs.close()
