"""The standby machine at the desk: the data it fetches, its state, and the button that hands the event over to it.

It fetches the whole event including the keys. It therefore has to prove that it has the event's key, over TLS (or on
this machine); nobody else gets an answer.
"""

import asyncio
import hmac
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.i18n import N_, Message, duration
from broker.scorer.service import Scorer
from broker.scorer.standby import FollowAnswer, FollowRequest, Peer, secret_of, write_peer
from broker.store.following import FollowedEvent
from broker.web import errors, forms

FOLLOW_PATH: Final = "/standby/follow"

LARGEST: Final = 1024 * 1024
"""Maximum size in bytes of a request, which names the files that have changed."""

WAIT_S: Final = 0.5
STEP_S: Final = 0.05
"""Seconds that a request waits for something new, and seconds between two checks."""


MINUTE_S: Final = 60


class StandbySummary(NamedTuple):
    """What the desk shows about the standby."""

    desk: str
    """The address of its desk."""
    sign: str
    text: Message
    there: bool = True
    """Whether it is heard; otherwise nothing can be handed over."""


class StandbyService:
    """Answers the standby of a scorer."""

    def __init__(self, scorer: Scorer, folder: Path, broker: int, scheme: str) -> None:
        """`folder` is the event's, `broker` the port of our broker, `scheme` that of our desk."""
        self._scorer, self._folder, self._broker, self._scheme = scorer, folder, broker, scheme
        self._event = FollowedEvent(folder, scorer.state.planned.name)
        self._secret = secret_of(scorer.publisher.key)
        self._follows = False
        """Whether the standby's data is known to be a part of this journal."""

    def routes(self) -> Sequence[Route]:
        """Return the route. A machine has no session; the event's key is what admits it."""
        return [Route(FOLLOW_PATH, self.follow, methods=["POST"])]

    async def follow(self, request: Request) -> Response:
        """Return what the standby lacks; if that is nothing, wait briefly for something new."""
        shown = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(shown.encode(), self._secret.encode()):
            raise errors.NotAllowed("only a machine that has the event's key can follow it")
        event = self._scorer.state.planned.name
        if request.query_params.get("event", event) != event:  # a folder copied for another event has the same key
            raise errors.NotAllowed(f"this is the desk of {event}")
        asked = await _read(request)
        host = asked.host or _host_of(request.client.host if request.client else "127.0.0.1")
        self._heard(asked, host, asked.have.height if self._follows else 0)
        loop = asyncio.get_running_loop()
        until = loop.time() + WAIT_S
        while self._scorer.live.journal.height <= asked.have.height and loop.time() < until:
            await asyncio.sleep(STEP_S)
        answer = await run_in_threadpool(self._answer, asked, host)
        return Response(answer, media_type="application/msgpack")

    def _heard(self, asked: FollowRequest, host: str, there: int) -> None:
        here = f"{_host_of(asked.of)}:{self._broker}"
        peer = Peer("active", f"{self._scheme}://{host}:{asked.desk}", f"{host}:{asked.broker}", here)
        self._scorer.standby.heard(there, peer)
        write_peer(self._folder, peer)
        if asked.take_over:
            self._scorer.standby.hand_over()

    def _answer(self, asked: FollowRequest, host: str) -> bytes:
        handed_over = self._scorer.standby.tell()  # read before the data that follows, so that nothing comes after it
        part = self._event.part(asked.have)
        if not self._follows and not part.differs:
            self._heard(asked, host, asked.have.height)
        self._follows = not part.differs
        told = FollowAnswer(
            part,
            self._scorer.publisher.lease.term,
            self._broker,
            host,
            self._scorer.tables_heard,
            handed_over,
        )
        return msgspec.msgpack.encode(told)

    def hand_over(self) -> None:
        """Let the standby take over. Raises StandbyBehind."""
        self._scorer.standby.hand_over()

    @property
    def summary(self) -> StandbySummary | None:
        """The state of the standby; None if there never was one."""
        state = self._scorer.standby.state
        if state is None:
            return None
        if not state.heard:
            return StandbySummary(state.desk, "warning", _not_heard_of(int(state.silent_s)), there=False)
        if state.behind:
            return StandbySummary(
                state.desk, "hourglass", N_("Messages that it does not have yet: {count}.", count=state.behind)
            )
        return StandbySummary(state.desk, "tick", N_("It is up to date."))


def _not_heard_of(seconds: int) -> Message:
    if seconds < 2 * MINUTE_S:
        return N_("Offline for {seconds} s.", seconds=seconds)
    return N_("Offline for {span}.", span=duration(seconds))


async def _read(request: Request) -> FollowRequest:
    body = await forms.read_body(request, LARGEST)
    if len(body) > LARGEST:
        raise errors.FormTooLarge("a standby asks less")
    try:
        return msgspec.msgpack.decode(body, type=FollowRequest)
    except msgspec.DecodeError:
        raise errors.FormMalformed("this is not what a standby asks") from None


def _host_of(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
