"""Who may ask the explorer's server, and what it does with everybody else. A real server, real requests, raw sockets."""

import json
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import httpx
import numpy as np
import pytest
from uvicorn.protocols.http.h11_impl import H11Protocol

from consilience._check import InputError
from consilience.explorer import guard
from consilience.explorer.checks import BITS, BODY, PICKS
from consilience.explorer.replies import refusal
from consilience.explorer.server import Asset, Server, check_host, run
from consilience.explorer.session import Session
from explorer_cases import ASSETS, TOKEN, beads_session, codes, free_port, unpack, until

CALLS = ["session", "boot", "labels/3m", "map/mds", "detail/3m", "objects/3m", "compare/3m/4m", "components/3m"]
CALLS += ["jobs/1", f"session?token={TOKEN}"]  # one in the address does not count
CHANGES = [{"path": "/api/jobs"}, {"path": "/api/export"}, {"path": "/api/jobs/1", "method": "DELETE"}]
TRAVERSALS = ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "....//etc/passwd"]
TRAVERSALS += ["/etc/passwd", "3m%00", "..\\..\\x"]
FOREIGN = ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}"]
FOREIGN += ["127.0.0.1.evil.example:{port}", "127.0.0.1:{port}.evil.example", "evil.example#127.0.0.1:{port}"]
FOREIGN += ["user@127.0.0.1:{port}", "[::1]", "[::1%25lo]:{port}", "[::ffff:127.0.0.1]:{port}", "::1:{port}", ""]
FOREIGN += ["0.0.0.0:{port}", "[::]:{port}", "2130706433:{port}", "127.1:{port}"]


@pytest.fixture(scope="module")
def server():
    with Server(beads_session(), token=TOKEN, assets=ASSETS) as running:
        yield running


@pytest.fixture(scope="module")
def base(server):
    return f"http://127.0.0.1:{server.port}"


@pytest.fixture(scope="module")
def client(base):
    with httpx.Client(base_url=base, headers={"X-Consilience-Token": TOKEN}, timeout=60) as opened:
        yield opened


@pytest.fixture(autouse=True)
def no_job(server):
    yield
    server.api.jobs.close()


def change(client, base, path="/api/jobs", method="POST", content=b"{}", **headers):
    usual = {"Origin": base, "Content-Type": "application/json"}
    kept = {name: value for name, value in {**usual, **headers}.items() if value is not None}
    return client.request(method, path, content=content, headers=kept)


def fetch(address, token=None, **more):
    """The answer to somebody who is not the page."""
    return httpx.get(address, headers={} if token is None else {"X-Consilience-Token": token}, timeout=60, **more)


def sent(server, text):
    """A connection over which this was sent as it stands."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(text.replace("\n", "\r\n").encode())
    return connection


def raw(server, text):
    """The status of the answer to a request as it stands, or None if the connection just ends."""
    with sent(server, text) as connection:
        answer = b""
        while b"\r\n" not in answer:
            part = connection.recv(4096)
            if not part:
                break
            answer += part
    return int(answer.split()[1]) if answer else None


def head(server, line, *more, token=TOKEN):
    """The head of a raw request."""
    lines = [f"{line} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", f"X-Consilience-Token: {token}", *more]
    return "\n".join(lines) + "\n"


def json_head(server):
    return head(server, "POST /api/jobs", f"Origin: http://127.0.0.1:{server.port}", "Content-Type: application/json")


def test_the_page_needs_no_token_and_calls_with_it_are_answered(base, client, server):
    found = fetch(f"{base}/")
    assert found.status_code == 200
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    assert found.content == ASSETS["/"].body
    assert fetch(f"{base}/explorer.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/api/session").json()["n_objects"] == 300
    _header, found = unpack(client.get("/api/labels/3m").content)
    np.testing.assert_array_equal(codes(found["labels"][0]), server.api.session.snapshot.meta.ensemble.labels[:, 3])


TOKENS = "", "0" * 32, TOKEN[:-1], TOKEN + "0", TOKEN.upper() + " x", "ü" * 32, "🙂"


@pytest.mark.parametrize(("call", "token"), [*((call, None) for call in CALLS), *((CALLS[0], one) for one in TOKENS)])
def test_no_call_without_the_token(base, call, token):
    found = fetch(f"{base}/api/{call}", token and token.encode())
    assert found.status_code == 401
    assert list(found.json()) == ["error"]


def get(server, path, host, token=TOKEN, version="1.1"):
    """The status of a raw request to a host, or to none."""
    own = "" if host is None else f"Host: {host}\n"
    return raw(server, f"GET {path} HTTP/{version}\n{own}X-Consilience-Token: {token}\nConnection: close\n\n")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_hosts_that_are_this_machine(server, name):
    assert get(server, "/api/session", f"{name}:{server.port}") == 200


@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize("path", ["/", "/api/session"])
def test_foreign_hosts_are_refused(server, host, path):
    assert get(server, path, host.format(port=server.port)) in (400, 421)


def test_a_missing_host_is_refused(server):
    assert [get(server, "/api/session", None, version=version) for version in ("1.0", "1.1")] == [400, 400]


def test_headers_that_come_twice_are_refused(server):
    """One that is right beside it does not help."""
    own, json_ = f"Host: 127.0.0.1:{server.port}", "Content-Type: application/json"
    key, origin = f"X-Consilience-Token: {TOKEN}", f"Origin: http://127.0.0.1:{server.port}"
    for line, headers, status in (
        ("GET /api/session", [own, key], 200),
        ("GET /", [own, "Host: evil.example"], 400),
        ("GET /", ["Host: evil.example", own], 400),
        ("GET /", [own, own], 400),
        ("GET /api/session", [own, key, key], 401),
        ("POST /api/jobs", [own, key, origin, origin, json_], 403),
        ("POST /api/jobs", [own, key, origin, json_, json_], 415),
    ):
        lines = [f"{line} HTTP/1.1", *headers, "Content-Length: 2", "Connection: close", "", "{}"]
        assert raw(server, "\n".join(lines)) == status, headers


def test_neither_an_absolute_address_nor_forwarding_headers_replace_the_host(server):
    assert get(server, f"http://127.0.0.1:{server.port}/", "evil.example") == 421
    more = f"X-Forwarded-Host: 127.0.0.1:{server.port}\nX-Forwarded-For: 127.0.0.1\nForwarded: host=127.0.0.1"
    assert get(server, "/", f"evil.example\n{more}") == 421


def test_changes_need_the_pages_own_origin(client, base, server):
    assert change(client, base).status_code == 400  # the body says nothing, but it was looked at
    local = f"http://localhost:{server.port}"
    assert change(client, base, Host=f"localhost:{server.port}", Origin=local).status_code == 400
    foreign = ["http://evil.example", f"https://127.0.0.1:{server.port}", "http://127.0.0.1", f"{base}.evil.example"]
    for origin in (None, "null", *foreign, local, f"{base}/"):
        for one in (*CHANGES, {"path": "/enter"}):
            assert change(client, base, **one, Origin=origin).status_code == 403, (one, origin)
    assert client.get("/api/session", headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.get("/api/session", headers={"Origin": base}).status_code == 200


def test_changes_need_json(client, base):
    forms = "application/x-www-form-urlencoded", "multipart/form-data"
    for kind in (None, "text/plain", *forms, "application/jsonx", ""):
        for path in ("/api/jobs", "/enter"):
            assert change(client, base, path, **{"Content-Type": kind}).status_code == 415, kind
    assert change(client, base, **{"Content-Type": "application/json; charset=utf-8"}).status_code == 400


def test_changes_need_the_token_too(base):
    with httpx.Client(base_url=base) as nobody:
        assert [change(nobody, base, **one).status_code for one in CHANGES] == [401] * 3


FENCE = {"x-content-type-options": "nosniff", "x-frame-options": "DENY", "referrer-policy": "no-referrer"}
FENCE |= {f"cross-origin-{what}-policy": "same-origin" for what in ("opener", "resource")}


def test_every_answer_has_the_headers_that_fence_the_page_in(client, base):
    ahead = {"Origin": base, "Access-Control-Request-Method": "POST"}
    answers = [
        httpx.options(f"{base}/api/jobs", headers=ahead, timeout=60),
        client.options("/api/jobs", headers={**ahead, "Origin": "http://evil.example"}),
        change(client, base),
        client.get("/"),
        client.get("/api/session"),
        client.get("/nothing"),
        fetch(f"{base}/api/session"),
        change(client, base, Origin="http://evil.example"),
        client.get("/", headers={"Host": "evil.example"}),
    ]
    for found in answers:
        policy = found.headers["content-security-policy"]
        assert all(part in policy for part in ("default-src 'none'", "script-src 'self';", "frame-ancestors 'none'"))
        assert "unsafe" not in policy
        assert dict(found.headers).items() >= FENCE.items()
        assert {"server", "set-cookie"}.isdisjoint(found.headers)
        assert not any(name.lower().startswith("access-control") for name in found.headers)
    assert answers[0].status_code in (401, 403, 405)
    assert client.get("/api/session").headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_to_the_disk(client, base, server, path):
    for place in ("/", "/explorer.js/", "/api/detail/"):  # as it stands: clients tidy addresses up
        assert raw(server, head(server, f"GET {place}{path}", "Connection: close") + "\n") in (400, 404)
    calls = ("labels", "detail", "objects", "compare/3m", "components", "jobs", "map")
    for place in ("/", "/api/", *(f"/api/{call}/" for call in calls)):
        found = client.get(f"{place}{path}")
        assert found.status_code in (404, 405), place
        assert b"root:" not in found.content
    for name in ("start", "count", "cluster", "order"):
        assert client.get("/api/objects/3m", params={name: path}).status_code == 400
    assert client.get("/api/objects/3m", params={path: "1"}).status_code == 400
    for call, body in (
        ("export", {"format": "csv", "items": [{"ref": path}]}),
        ("export", {"format": path, "items": [{"ref": "3m"}]}),
        ("jobs", {"kind": "more_like", "ref": path}),
    ):
        assert change(client, base, f"/api/{call}", content=json.dumps(body).encode()).status_code == 400
    body = json.dumps({"format": "csv", "items": [{"ref": "3m", "name": path}]}).encode()
    found = change(client, base, "/api/export", content=body)  # a name is only a name
    assert found.headers["content-disposition"] == 'attachment; filename="consilience.csv"'


def test_what_is_not_on_the_list_is_not_there(client):
    static = ["index.html", "static/explorer.js", "explorer.js/", "explorer.py", ".git/config"]
    for path in (*static, "api", "docs", "openapi.json"):
        found = client.get(f"/{path}")
        assert (found.status_code, list(found.json())) == (404, ["error"]), path


def test_other_methods(client, base):
    found = change(client, base, "/api/session")
    assert (found.status_code, "GET" in found.headers["allow"]) == (405, True)
    for path, method in (("/", "PUT"), ("/api/jobs", "DELETE"), ("/api/jobs", "PATCH")):
        assert change(client, base, path, method).status_code == 405, method
    for path in ("/api/jobs", "/enter"):
        assert client.get(path).status_code == 405
    assert client.request("TRACE", "/api/session").status_code in (400, 401, 403, 405)


def test_long_bodies_are_refused(client, base, server):
    fits = json.dumps({"kind": "x" * (BODY - 12)}).encode()
    assert len(fits) == BODY
    assert change(client, base, content=fits).status_code == 400
    assert change(client, base, content=fits + b" ").status_code == 413

    def pieces():
        for _ in range(100):
            yield b" " * 1024

    assert change(client, base, content=pieces()).status_code == 413  # chunked: no length is announced
    start = json_head(server)
    assert raw(server, f"{start}Content-Length: 99999999999\n\n") == 413
    assert raw(server, f"{start}Content-Length: -1\n\n") == 400
    assert raw(server, f"{start}Content-Length: 2\nContent-Length: 3\n\n{{}}") == 400
    assert raw(server, f"{start}Transfer-Encoding: chunked\n\nzz\n") == 400


def test_two_picks_of_many_objects_fit(client, base):
    half = "A" * BITS
    longest = json.dumps({"rows": half, "against": half}).encode()
    assert BODY < len(longest) <= PICKS
    said = change(client, base, "/api/contrast", content=longest)
    assert (said.status_code, said.json()["error"]) == (400, "pick at least 1 object")  # it was read
    for path in ("/api/contrast", "/api/treat", "/api/known", "/api/objects/3m"):
        assert change(client, base, path, content=longest + b" " * PICKS).status_code == 413
    assert change(client, base, "/api/looks", content=longest).status_code == 413


def test_a_body_that_never_ends_is_not_read_for_strangers_and_given_up_for_others(server, monkeypatch):
    started = f"POST /api/jobs HTTP/1.1\nHost: 127.0.0.1:{server.port}\nContent-Length: 60000\n\n"
    assert raw(server, started) == 401  # at once
    monkeypatch.setattr("consilience.explorer.api.PATIENCE", 0.2)
    assert raw(server, f"{json_head(server)}Content-Length: 100\n\n{{") == 408


def test_long_addresses_and_headers(client, server):
    assert client.get(f"/api/labels/{','.join(['3m'] * 64)}").status_code == 200
    assert client.get(f"/api/labels/{','.join(['3m'] * 65)}").status_code == 400
    assert raw(server, f"GET /{'a' * 70000} HTTP/1.1\n") in (400, 431, None)


NO_REQUEST = [b"", b"[", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b"{" * 5000, b"[" * 60000, b'{"kind":NaN}']
NO_REQUEST += [b'{"kind":"more_like","ref":"3m","count":1e400}']
NO_REQUEST += [b'{"format":"csv","items":[{"ref":"3m","name":"\\ud800"}]}']  # half a character


@pytest.mark.parametrize("body", NO_REQUEST)
def test_bodies_that_are_no_request(client, base, body):
    for path in ("/api/jobs", "/api/export"):
        found = change(client, base, path, content=body)
        assert (found.status_code, list(found.json())) == (400, ["error"])


def test_labels_that_the_page_has_already(client):
    first = client.get("/api/labels/3m,4m")
    assert first.headers["cache-control"] == "private, no-cache"
    again = client.get("/api/labels/3m,4m", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/api/labels/3m,5m", headers={"If-None-Match": first.headers["etag"]}).status_code == 200


def test_too_many_calls_at_once(base, server, monkeypatch):
    gate = threading.Event()
    real = Session.name_of

    def slow(self, index):
        gate.wait(60)
        return real(self, index)

    monkeypatch.setattr(Session, "name_of", slow)
    monkeypatch.setattr("consilience.explorer.api.WAITING", 3)
    with ThreadPoolExecutor(6) as pool:
        told = [pool.submit(fetch, f"{base}/api/objects/3m", TOKEN) for _ in range(6)]
        until(lambda: sum(one.done() for one in told) >= 3)
        gate.set()
    assert sorted(one.result().status_code for one in told) == [200, 200, 200, 429, 429, 429]


def test_a_failure_inside_says_nothing_of_the_inside(client, server, monkeypatch, caplog):
    monkeypatch.setattr(type(server.api.session.snapshot), "ref", lambda self, text: {}["secret"])
    found = client.get("/api/detail/3m")
    assert found.status_code == 500
    assert "secret" not in found.text
    assert "Traceback" not in found.text
    assert "KeyError" in caplog.text


def test_only_this_machine_is_listened_to_and_answers_do_not_wait_for_each_other(server):
    """asyncio turns Nagle's algorithm off only on sockets whose protocol is named; otherwise every answer takes 40 ms."""
    assert (server._socket.getsockname()[0], server._socket.proto) == ("127.0.0.1", socket.IPPROTO_TCP)


def test_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with Server(beads_session(), host="::1", token=TOKEN, assets=ASSETS) as running:
        assert running.url.startswith("http://[::1]:")
        assert fetch(running.url.split("#")[0] + "api/session", TOKEN).status_code == 200


def test_a_new_server_takes_the_place_of_an_old_one():
    with Server(beads_session(), port=free_port(), token="0" * 32, assets=ASSETS) as first:
        port, old = first.port, first.token
    with Server(beads_session(), port=port, assets=ASSETS) as second:
        assert second.port == port
        address = f"http://127.0.0.1:{port}/api/session"
        assert [fetch(address, token).status_code for token in (old, second.token)] == [401, 200]


def test_a_server_that_ends_leaves_no_connection_open(monkeypatch):
    server = Server(beads_session(), token=TOKEN, assets=ASSETS).start()
    # a connection that arrives while the server ends is told nothing
    monkeypatch.setattr(H11Protocol, "shutdown", lambda self: None)
    with sent(server, head(server, "GET /api/session") + "\n") as connection:
        assert connection.recv(2**20).startswith(b"HTTP/1.1 200")
        server.close()
        with suppress(ConnectionResetError):
            while connection.recv(2**20):
                pass


EVERYWHERE = ["0.0.0.0", "0", "::", "[::]", "0:0:0:0:0:0:0:0"]


@pytest.mark.parametrize("host", [*EVERYWHERE, "192.0.2.7", "nobody.invalid", "", "a b", "x/y", "é@", None])
def test_hosts_that_cannot_be_listened_at(host):
    with pytest.raises(InputError, match=r"every address|cannot listen|not an address of this machine|must be an addr"):
        Server(beads_session(), host=host, assets=ASSETS)


def test_other_machines_only_after_a_warning():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this machine has no address that others could reach")
        own = probe.getsockname()[0]
    with pytest.warns(UserWarning, match="has the token"):
        running = Server(beads_session(), host=own, token=TOKEN, assets=ASSETS)
    with running:
        address = f"http://{own}:{running.port}/api/session"
        assert [fetch(address, token).status_code for token in (None, TOKEN)] == [401, 200]


def test_this_machine_by_any_of_its_names():
    hosts = ["localhost", "127.0.0.1", "[::1]", "127.0.0.9"]
    assert [check_host(host) for host in hosts] == ["127.0.0.1", "127.0.0.1", "::1", "127.0.0.9"]
    for host in hosts[:2]:  # without a warning, which pytest would turn into an error
        Server(beads_session(), host=host, assets=ASSETS).close()


def test_without_a_display_no_browser_is_opened(server, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    server.open_browser()
    assert opened == []


@pytest.fixture
def display(monkeypatch):
    """What a browser would open, and which signals it would block."""
    opened = []
    block = getattr(signal, "pthread_sigmask", lambda how, mask: mask)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append((url, block(signal.SIG_BLOCK, []))))
    return opened


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked here")
def test_the_browser_inherits_no_blocked_signal(server, display):
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        server.open_browser()
        until(lambda: display)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert signal.SIGTERM not in display[0][1]


def test_the_browser_gets_a_code_that_lets_in_once(server, client, base, display):
    """Other users see the command line of a browser: what it holds is of no use to them."""
    server.open_browser()
    until(lambda: display)
    assert TOKEN not in display[0][0]
    code = display[0][0].removeprefix(f"{base}/#code=")
    for sent, status in (({"code": "0" * 32}, 401), ({}, 401), ({"code": [1]}, 401), ([], 400)):
        assert change(client, base, "/enter", content=json.dumps(sent).encode()).status_code == status
    first, second = (change(client, base, "/enter", content=json.dumps({"code": code}).encode()) for _ in range(2))
    assert (first.status_code, first.json()) == (200, {"token": TOKEN})
    assert second.status_code == 401
    assert "used already" in second.json()["error"]


def test_a_browser_that_does_not_return_holds_nothing_up(monkeypatch):
    said, closed = [], threading.Event()
    running = Server(beads_session(), assets=ASSETS)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda url: closed.wait(30))
    monkeypatch.setattr(running, "wait", lambda: None)
    run(running, browser=True, say=said.append)
    closed.set()
    assert running.url in said[0]


ASKED = b"GET /explorer.js HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
STRANGERS = {"idle": b"", "never read": (ASKED + b"\r\n") * 40, "never let close": ASKED + b"Connection: close\r\n\r\n"}


@pytest.mark.parametrize("sent", STRANGERS.values(), ids=STRANGERS)
def test_strangers_do_not_keep_the_page_out(sent):
    """More than the limit: the oldest that never showed the token goes, and who has the token stays."""
    assets = ASSETS | {"/explorer.js": Asset(b" " * 2**20, "text/javascript")}
    with (
        Server(beads_session(), token=TOKEN, assets=assets) as running,
        httpx.Client(timeout=60, base_url=f"http://127.0.0.1:{running.port}") as ours,
        ExitStack() as strangers,
    ):
        running._server.config.timeout_keep_alive = 3600  # nobody's connection ends by itself
        running._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**16)  # the system takes no whole answer
        assert ours.get("/api/session", headers={"X-Consilience-Token": TOKEN}).status_code == 200
        (mine,) = running._server.server_state.connections
        theirs = []
        for _ in range(guard.CONNECTIONS + 12):
            one = strangers.enter_context(socket.create_connection(("127.0.0.1", running.port), timeout=60))
            with suppress(OSError):  # it may be ended already
                one.sendall(sent.replace(b"%d", b"%d" % running.port))
                assert not sent or one.recv(1)  # the answer has begun
            theirs.append(one)
        with suppress(ConnectionError):
            while theirs[0].recv(2**20):  # until it is ended
                pass
        for _ in range(3):
            assert fetch(f"http://127.0.0.1:{running.port}/").status_code == 200
        until(lambda: len(running._server.server_state.connections) <= guard.CONNECTIONS)
        assert mine in running._server.server_state.connections
        assert ours.get("/api/session", headers={"X-Consilience-Token": TOKEN}).status_code == 200


def test_a_call_ends_when_its_client_hangs_up(server, monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def wait(answer, call):
        begun.set()
        until(call.is_gone)
        ended.set()
        return refusal(499, "")

    monkeypatch.setattr("consilience.explorer.api._safely", wait)
    with sent(server, head(server, "GET /api/session") + "\n"):
        assert begun.wait(60)
    assert ended.wait(60)


def test_what_strangers_send_is_not_printed(server, caplog):
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA==")
    raw(server, head(server, "GET /api/session", *upgrade) + "\n")
    raw(server, "nonsense\n\n")
    assert not [record for record in caplog.records if record.name.startswith("uvicorn")]


def test_ctrl_c_ends_it_cleanly(monkeypatch):
    said = []
    running = Server(beads_session(), assets=ASSETS)
    monkeypatch.setattr(running, "wait", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    run(running, browser=False, say=said.append)
    assert running.url in said[0]
    assert "ended" in said[-1]
    with pytest.raises(httpx.TransportError):
        fetch(running.url)
