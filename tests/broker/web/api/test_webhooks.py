"""Webhooks: final results are delivered once, even to a server that fails or hangs at first."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from broker.people import Actor, Authentication
from broker.people.errors import BadWebhook, WebhookTaken, WebhookUnknown
from broker.people.programs import GIVE_UP_MS, PAUSES_MS, Webhook
from broker.scorer import DashboardView, EventState, Snapshot
from broker.web.api.webhooks import DELIVERY, SIGNATURE, WebhookSender, send
from broker.web.embargo import Sheets
from tests.broker.people.conftest import NOON, Hand
from tests.broker.scorer.team_event import team_event
from tests.broker.web import sample
from tests.patience import PATIENCE_S

BY: Final = Actor("test")


class Receiver(ThreadingHTTPServer):
    """A server that answers with `status`, or not at all while `answers` is cleared."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.got = 200, list[tuple[dict[str, str], bytes]]()
        self.answers = threading.Event()
        self.answers.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?key=1"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        receiver = self.server
        assert isinstance(receiver, Receiver)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.got.append((dict(self.headers), body))
        receiver.answers.wait(PATIENCE_S)
        self.send_response(receiver.status)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the library calls it
        """Log nothing."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.answers.set()
        made.shutdown()
        thread.join()


class Event:
    """An event that becomes final on request."""

    def __init__(self, folder: Path, clock: Hand) -> None:
        self.folder, self.clock = folder, clock
        self.auth = Authentication(folder, clock)
        self.view = sample.view()
        self.begin()

    def begin(self) -> None:
        """Create a new sender, as a starting scorer does."""
        self.sender = WebhookSender(self.auth, lambda: self.view, Sheets(nothing_yet, self.clock))

    def finish(self, title: str = "Cup") -> None:
        self.view = replace(self.view, final=True, title=title)

    def poll(self) -> None:
        """Poll, and wait for all attempts that this started."""
        for thread in self.sender.poll():
            thread.join()

    def hook(self) -> Webhook:
        (found,) = self.auth.webhooks.all()
        return found


def genuine(secret: str, header: str, body: bytes, now: float) -> bool:
    """Verify a message with the program in docs/api.md."""
    program = (
        (Path(__file__).parents[4] / "docs" / "api.md").read_text().partition("```python\n")[2].partition("```")[0]
    )
    namespace: dict[str, Any] = {"hmac": hmac, "hashlib": hashlib}
    exec(program, namespace)  # noqa: S102 - the program that the documentation recommends
    return bool(namespace["genuine"](secret, header, body, now))


def nothing_yet() -> Snapshot:
    return EventState(team_event()).snapshot()


@pytest.fixture
def event(tmp_path: Path, clock: Hand) -> Iterator[Event]:
    made = Event(tmp_path, clock)
    with closing(made.auth):
        yield made


@pytest.fixture
def clock() -> Hand:
    return Hand()


def test_results_are_sent_once_and_only_when_final(event: Event, receiver: Receiver) -> None:
    event.auth.webhooks.add("site", receiver.url, BY)
    event.poll()
    before = len(receiver.got)
    event.finish()
    for _ in range(3):
        event.poll()
    event.begin()  # a restarted scorer
    event.poll()
    assert (before, len(receiver.got)) == (0, 1)
    told = json.loads(receiver.got[0][1])
    assert (told["type"], told["event"], len(told["standings"])) == ("results.final", event.view.event, 16)


def test_a_signature_covers_body_and_time(event: Event, receiver: Receiver) -> None:
    secret = event.auth.webhooks.add("site", receiver.url, BY)
    event.finish()
    event.poll()
    headers, body = receiver.got[0]
    signature, now = headers[SIGNATURE], NOON / 1000
    assert (genuine(secret, signature, body, now), len(headers[DELIVERY])) == (True, 32)
    assert not genuine(secret, signature, body + b" ", now)
    assert not genuine("another", signature, body, now)
    assert not genuine(secret, signature, body, now + 301)
    assert not genuine(secret, signature.replace(f"t={NOON // 1000}", f"t={NOON // 1000 + 301}"), body, now + 301)


def test_failed_deliveries_are_repeated_with_growing_pauses(event: Event, receiver: Receiver) -> None:
    event.auth.webhooks.add("site", receiver.url, BY)
    event.finish()
    receiver.status = 503
    for pause in PAUSES_MS:
        event.poll()
        event.clock.now += pause - 1
        event.poll()  # not yet due
        event.clock.now += 1
    assert (len(receiver.got), event.hook().failure) == (len(PAUSES_MS), "answered 503")
    event.begin()  # the queue is in the store
    receiver.status = 204
    event.poll()
    event.poll()
    assert (len(receiver.got), event.hook().delivery) == (len(PAUSES_MS) + 1, "")
    assert len({headers[DELIVERY] for headers, _ in receiver.got}) == 1


def test_a_hanging_server_gets_one_attempt_at_a_time(event: Event, receiver: Receiver) -> None:
    event.auth.webhooks.add("slow", receiver.url, BY)
    event.finish()
    receiver.answers.clear()
    (thread,) = event.sender.poll()  # returns at once
    assert event.sender.poll() == []
    receiver.answers.set()
    thread.join()
    assert (len(receiver.got), event.hook().delivery) == (1, "")


def test_a_server_that_times_out_has_not_accepted_the_message(event: Event, receiver: Receiver) -> None:
    event.auth.webhooks.add("slow", receiver.url, BY)
    receiver.answers.clear()
    assert send(event.hook(), 0, timeout_s=0.1).startswith("TimeoutError")


def test_a_redirect_or_refused_connection_is_no_acceptance(event: Event, receiver: Receiver) -> None:
    event.auth.webhooks.add("site", receiver.url, BY)
    receiver.status = 307
    assert send(event.hook(), 0) == "answered 307"
    gone = event.hook()._replace(url="http://127.0.0.1:1/")
    assert send(gone, 0).startswith("ConnectionRefusedError")


def test_deliveries_are_given_up_after_three_days(event: Event, receiver: Receiver) -> None:
    event.auth.webhooks.add("site", receiver.url, BY)
    event.finish()
    receiver.status = 500
    event.poll()
    event.clock.now += GIVE_UP_MS
    event.poll()
    event.clock.now += GIVE_UP_MS
    event.poll()
    assert (len(receiver.got), event.hook().delivery, event.hook().failure) == (2, "", "answered 500")


def test_a_waiting_delivery_can_be_sent_at_once(event: Event, receiver: Receiver) -> None:
    event.auth.webhooks.add("site", receiver.url, BY)
    event.finish()
    receiver.status = 500
    event.poll()
    receiver.status = 200
    event.poll()
    before = len(receiver.got), event.hook().state
    event.auth.webhooks.hurry("site", BY)
    event.poll()
    assert (before, len(receiver.got), event.hook().state) == ((1, "waiting"), 2, "told")
    with pytest.raises(WebhookUnknown):
        event.auth.webhooks.hurry("another", BY)


def test_corrected_results_replace_undelivered_ones(event: Event, receiver: Receiver) -> None:
    event.auth.webhooks.add("site", receiver.url, BY)
    event.finish("before")
    receiver.status = 500
    event.poll()
    event.finish("after")
    receiver.status = 200
    event.poll()
    event.clock.now += PAUSES_MS[-1]
    event.poll()
    assert [json.loads(body)["title"] for _, body in receiver.got] == ["before", "after"]


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "ftp://example.org/",
        "https://",
        "https://user:word@example.org/",
        "https://example.org/#part",
        "https://example.org:x/",
        "https://exämple.org/",
        "https://example.org/ x",
        "https://example.org/\r\nX: y",
        f"https://example.org/{'x' * 300}",
        "file:///etc/passwd",
        "",
    ],
)
def test_an_unusable_webhook_address_is_refused(event: Event, url: str) -> None:
    with pytest.raises(BadWebhook):
        event.auth.webhooks.add("site", url, BY)
    assert event.auth.webhooks.all() == []


@pytest.mark.parametrize(
    "host", ["10.0.0.1", "192.168.1.1", "169.254.169.254", "[fd00::1]", "[::ffff:10.0.0.1]", "[::]", "224.0.0.1"]
)
def test_private_networks_are_not_reached_unless_allowed(event: Event, host: str) -> None:
    event.auth.webhooks.add("site", f"https://{host}/", BY)
    assert "in a private network" in send(event.hook(), 0, timeout_s=0.1)


def test_a_host_name_that_resolves_to_loopback_is_refused(event: Event, monkeypatch: pytest.MonkeyPatch) -> None:
    event.auth.webhooks.add("site", "https://example.org/", BY, inner=True)
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("127.0.0.1", 443))])
    assert "in a private network" in send(event.hook(), 0, timeout_s=0.1)


def test_a_webhook_is_registered_once_and_gets_nothing_after_removal(event: Event, receiver: Receiver) -> None:
    event.auth.webhooks.add("site", receiver.url, BY)
    with pytest.raises(WebhookTaken):
        event.auth.webhooks.add("site", receiver.url, BY)
    event.auth.webhooks.remove("site", BY)
    with pytest.raises(WebhookUnknown):
        event.auth.webhooks.remove("site", BY)
    event.finish()
    event.poll()
    assert receiver.got == []


def test_nothing_is_queued_before_the_results_are_final(event: Event) -> None:
    view: DashboardView = event.view
    assert not view.final
    event.auth.webhooks.add("site", "https://example.org/", BY)
    event.poll()
    assert event.hook().seen == ""
