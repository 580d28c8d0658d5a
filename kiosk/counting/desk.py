"""Counting a winner's hand at one table. Takes keys, observations and the scorer's answers; sends the request.

Nothing is stored: after a power cut the tiles are still there, and are read and asked about again.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from broker.protocol import (
    AnyCountAnswer,
    AnyWinDetails,
    Counted,
    CountRequest,
    McrValue,
    NotCounted,
    PlannedPlay,
    PlayFound,
    RiichiValue,
    Seat,
)
from broker.rules import RuleError, hand_from_serials, riichi
from kiosk.camera.observations import HandObservation, Winner
from kiosk.counting.questions import AnyHand, CountQuestion, HandAnswers, McrQuestions, RiichiContext, RiichiQuestions
from kiosk.input import HAN_WITHOUT_FU, Form, RiichiForm, WinForm
from kiosk.table import Phase, Table

NO_HAND: Final = frozenset({"not_winning", "no_yaku"})
"""Answers after which the declaration may be a false hu."""


@dataclass(frozen=True, slots=True)
class HandCounting:
    """The state of counting a hand."""

    winner: Winner
    win: McrQuestions | RiichiQuestions = field(default_factory=McrQuestions)
    """What was said about the win."""
    observation: HandObservation = HandObservation()  # noqa: RUF009 - frozen
    request: CountRequest | None = None
    requested_at: int = 0
    answer: AnyCountAnswer | None = None

    @property
    def hand(self) -> AnyHand | str:
        """The hand as it lies, or the code of why it cannot be counted."""
        try:
            return self.win.hand(self.observation, self.winner)
        except RuleError as refusal:
            return refusal.code

    @property
    def questions(self) -> tuple[CountQuestion, ...]:
        """The questions about this hand; empty if it cannot be counted."""
        return () if isinstance(self.hand, str) else (*self.win.questions(self.observation, self.winner),)

    @property
    def details(self) -> AnyWinDetails | None:
        """The answers that apply to this hand; None if it cannot be counted."""
        return None if isinstance(self.hand, str) else self.win.details(self.observation, self.winner)

    @property
    def may_ask(self) -> bool:
        """Whether the scorer can be asked: the hand is still, and the necessary questions are answered."""
        return self.observation.still and not isinstance(self.hand, str) and self.win.ready

    @property
    def walls_ticked(self) -> bool:
        """Whether there are questions that the walls would have answered, had they been read."""
        return isinstance(self.win, McrQuestions) and self.win.laid is not None

    @property
    def accepted(self) -> McrValue | RiichiValue | None:
        """The value that can be accepted; None if there is none, or it is below the minimum."""
        answer = self.answer
        if isinstance(answer, McrValue):
            return answer if answer.fan >= answer.minimum else None
        return answer if isinstance(answer, RiichiValue) else None

    @property
    def may_be_false(self) -> bool:
        """Whether the scorer says that this is no hu."""
        answer = self.answer
        if isinstance(answer, McrValue):
            return answer.fan < answer.minimum
        return isinstance(answer, NotCounted) and answer.code in NO_HAND and not self._needs_no_yaku

    @property
    def _needs_no_yaku(self) -> bool:
        return isinstance(self.win, RiichiQuestions) and self.win.context.any_hand


def press_count_key(
    counting: HandCounting, key: str, now: int, make_request: Callable[[HandCounting], CountRequest]
) -> HandCounting | tuple[str, ...]:
    """Handle a key; return the keys for the form once counting is over. `make_request` builds the request.

    A key without meaning changes nothing.
    """
    if key == "back":
        return ()
    if counting.request is None:
        return _press_while_looking(counting, key, now, make_request)
    if key == "r":
        return replace(counting, request=None, answer=None)
    if key == "enter" and counting.accepted is not None:
        return keys_for_value(counting.accepted)
    return ("x",) if key == "x" and counting.may_be_false else counting


def keys_for_value(value: McrValue | RiichiValue) -> tuple[str, ...]:
    """Return the keys that enter a value."""
    if isinstance(value, McrValue):
        return ("clear", *str(value.fan), "enter")
    if value.yakuman:
        return ("clear", "y", "clear", str(value.yakuman), "enter")
    fu = (*str(value.fu), "enter") if value.han < HAN_WITHOUT_FU else ()
    return ("clear", *str(value.han), "enter", *fu)


def _press_while_looking(
    counting: HandCounting, key: str, now: int, make_request: Callable[[HandCounting], CountRequest]
) -> HandCounting:
    if isinstance(counting.hand, str):
        return counting
    if key == "enter":
        return replace(counting, request=make_request(counting), requested_at=now) if counting.may_ask else counting
    return replace(counting, win=counting.win.press(key, counting.observation, counting.winner))


AnyForm = Form | RiichiForm

INDICATORS: Final = -1
"""The row of the last wall that holds the ten indicators (docs/riichi-session.md)."""


def winner_to_count(state: Table, form: AnyForm | None) -> Winner | None:
    """Return the winner whose value the form asks for; never before the claim window has closed with a declaration."""
    if state.phase is not Phase.DECLARED or state.play is None or state.paused:
        return None
    seat = _seat(form)
    return None if seat is None else Winner(state.play, seat)


def _seat(form: AnyForm | None) -> Seat | None:
    match form:
        case Form():
            return form.seat
        case WinForm(asked="han"):
            return form.seat
    return None


def begin_counting(winner: Winner, state: Table) -> HandCounting:
    """Begin to count a hand."""
    rules = state.profile
    if isinstance(rules, riichi.RiichiProfile):
        return HandCounting(winner, RiichiQuestions(_riichi_context(winner, state, rules)))
    return HandCounting(winner, McrQuestions(None if _walls_were_read(state) else HandAnswers()))


def _walls_were_read(state: Table) -> bool:
    """Return whether a device has read the walls, so that they tell who drew a tile."""
    return bool(state.work.by) and state.work.verifier != "hand"


def _riichi_context(winner: Winner, state: Table, rules: riichi.RiichiProfile) -> RiichiContext:
    play, session = winner.play, state.session
    return RiichiContext(
        round_wind=play.prevalent_wind,
        dealer=play.dealer,
        deposit=None if session is None else winner.seat in session.riichi,
        open_riichi=rules.hand.open_riichi.value,
        red_fives=rules.hand.red_fives.value,
        any_hand=_needs_no_yaku(state, rules),
        dead_wall=_indicators(play) if session is None and _walls_were_read(state) else (),
    )


def _indicators(play: PlannedPlay) -> tuple[int, ...]:
    """Return the indicators of a planned deal: the five that may be turned, then those under them."""
    return play.order[riichi.wall_of(play.dealer)[-1]][INDICATORS]


def _needs_no_yaku(state: Table, rules: riichi.RiichiProfile) -> bool:
    after_eight = state.session is not None and state.session.state.counters >= riichi.EIGHT
    return after_eight and rules.hand.paarenchan.value == "any_hand"


ASK_AGAIN_NS: Final = 3_000_000_000
"""Without an answer for so long, the scorer is asked again, as the request may be lost."""

SILENT_NS: Final = 8_000_000_000
"""Without an answer for so long, nobody should wait for one."""

NOT_YET: Final = frozenset({"not_declared", "not_restored"})
"""The scorer has not received the declaration or the walls yet; it will answer differently once it has."""

ARBITER_KEYS: Final = frozenset({"a", "c"})
"""The arbiter's keys, which are not about the hand."""


@dataclass(frozen=True, slots=True)
class CountingView:
    """The view of the counting."""

    counting: HandCounting
    silent: bool = False
    """Whether the answer is overdue, or there is nobody to ask."""


class CountDesk:
    """The counting of hands at one table."""

    def __init__(self, event: str, table: int, send: Callable[[CountRequest], None]) -> None:
        """Take the sender of requests, which publishes them if there is a connection."""
        self._event, self._table, self._send = event, table, send
        self._counting: HandCounting | None = None
        self._sent_at = 0
        self.discarder_key: str | None = None
        """The key that answers who discarded, according to the winning tile."""
        self.open = False
        """Whether a hand is being counted, or its form is not complete yet."""

    def follow(self, state: Table, form: AnyForm | None) -> None:
        """Stop if the form asks for another hand, or for none."""
        winner = winner_to_count(state, form)
        if self._counting is not None and self._counting.winner != winner:
            self._counting = None
        if form is None:
            self.discarder_key = None
        self.open = self._counting is not None or self.discarder_key is not None

    def key(self, key: str, state: Table, form: AnyForm | None, now: int) -> tuple[str, ...] | None:
        """Handle a key; return the keys that the form gets for it, or None if it is not ours."""
        if key in ARBITER_KEYS:
            return None
        if self._counting is None:
            return self._open(key, state, form)
        result = press_count_key(self._counting, key, now, self._make_request)
        if isinstance(result, tuple):
            self._close(self._counting, result)
            return result
        if result.request is not None and result.request != self._counting.request:
            self._send_request(result.request, now)
        self._counting = result
        return ()

    def _open(self, key: str, state: Table, form: AnyForm | None) -> tuple[str, ...] | None:
        winner = winner_to_count(state, form)
        if key != "b" or winner is None:
            return None
        self._counting, self.open = begin_counting(winner, state), True
        return ()

    def _close(self, counting: HandCounting, keys: tuple[str, ...]) -> None:
        hand = counting.hand
        if keys and counting.accepted is not None and not isinstance(hand, str):
            self.discarder_key = "d" if hand.self_drawn else _discarder_key(hand)
        self._counting = None

    def _make_request(self, counting: HandCounting) -> CountRequest:
        play = counting.winner.play
        return CountRequest(
            id=uuid.uuid4().hex,
            event=self._event,
            table=self._table,
            round=play.round,
            deal=play.deal,
            seat=counting.winner.seat,
            groups=counting.win.groups(counting.observation),
            said=counting.win.details(counting.observation, counting.winner),
        )

    def _send_request(self, request: CountRequest, now: int) -> None:
        self._sent_at = now
        self._send(request)

    def observe(self, observation: HandObservation) -> None:
        """Accept an observation. While an answer is awaited, the hand in question stays."""
        if self._counting is not None and self._counting.request is None:
            self._counting = replace(self._counting, observation=observation)

    def take(self, message: Counted) -> None:
        """Accept the scorer's answer, unless it belongs to another request."""
        counting = self._counting
        if counting is None or counting.request is None or counting.request.id != message.asked:
            return
        answer = message.answer
        if not isinstance(answer, PlayFound) and not (isinstance(answer, NotCounted) and answer.code in NOT_YET):
            self._counting = replace(counting, answer=answer)

    def due(self, now: int) -> None:
        """Repeat a request that has no answer."""
        counting = self._counting
        if counting is None or counting.request is None or counting.answer is not None:
            return
        if now >= self._sent_at + ASK_AGAIN_NS:
            self._send_request(counting.request, now)

    @property
    def camera_target(self) -> Winner | None:
        """The hand that the camera is to look at."""
        return self._counting.winner if self._counting is not None and self._counting.request is None else None

    def view(self, now: int, *, up: bool) -> CountingView | None:
        """Return the view; None if nothing is being counted."""
        counting = self._counting
        if counting is None:
            return None
        waits = counting.request is not None and counting.answer is None
        return CountingView(counting, silent=waits and (not up or now >= counting.requested_at + SILENT_NS))


def _discarder_key(hand: AnyHand) -> str | None:
    """Return the key of the seat that drew a claimed tile, if its wall tells."""
    return hand.discarder[0] if isinstance(hand, hand_from_serials.LaidHand) and hand.discarder else None
