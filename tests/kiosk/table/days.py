"""Random days at a table: sensible steps, mistakes and nonsense, in any order."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

from broker.protocol import SEATS, Command, Fact, Seat
from broker.protocol.rulings import Measure
from kiosk.table import (
    Event,
    NotNow,
    Phase,
    Table,
    handle,
)
from kiosk.table.events import (
    ArbiterAdmitted,
    ArbiterLeft,
    Assigned,
    ButtonHeld,
    ButtonPressed,
    ButtonReleased,
    CallToggled,
    CarrierTakenApart,
    ClaimWindowElapsed,
    DealBroughtForward,
    DeclarationsCorrected,
    ExtraTimeGiven,
    FalseHuRuled,
    GuardOverridden,
    InfractionRuled,
    NextDealCalled,
    NoHuMeant,
    Ordered,
    PauseRuled,
    PinRefused,
    PlayAdjusted,
    PlayEndedDrawn,
    PlayVoided,
    Reopened,
    Restarted,
    ResultRefused,
    RowTicked,
    SeatsSwapped,
    TrayChecked,
    ValueEntered,
)
from tests.kiosk.tables import MS, S, plan, play, right, strange, swapped

PLAN: Final = plan(play(1), play(2, dealer="south"))
LONGER: Final = plan(*PLAN.plays, play(3))
REWRITTEN: Final = plan(play(1, deal=9), play(2, dealer="south"))
STRANGE: Final = plan(play(1), profile="nobody-knows-it")
AS_MADE: Final = deepcopy((PLAN, LONGER, REWRITTEN, STRANGE))


@dataclass(frozen=True)
class Move:
    """An intended action, before it is known whether the table allows it."""

    kind: str
    seat: Seat
    wait: int


@dataclass(frozen=True)
class Step:
    """One event and its result; `code` if it was refused."""

    before: Table
    event: Event
    after: Table
    facts: tuple[Fact, ...]
    code: str | None


def _look(of: Callable[..., TrayChecked]) -> Callable[[Table, Move, int], Event]:
    def look(state: Table, move: Move, now: int) -> Event:
        return of(state.play or play(1), move.seat, now)

    return look


def _unread(state: Table, move: Move, now: int) -> Event:
    rows = (state.play or play(1)).order[move.seat]
    return TrayChecked(at=now, seat=move.seat, rows=((None, *rows[0][1:]), *rows[1:]))


def _press(_: Table, move: Move, now: int) -> Event:
    return ButtonPressed(at=now, seat=move.seat)


def _late(state: Table, move: Move, now: int) -> Event:
    """A press that is reported after a later one."""
    opened = state.window.opened_at if state.window else state.since or now
    return ButtonPressed(at=max(0, opened - move.wait // 40), seat=move.seat)


def _edge(state: Table, move: Move, now: int) -> int:
    """Return when the finger of a seat went down; just now if none is known to be down."""
    contacts = state.window.presses if state.window else ()
    return next((max(0, one.at) for one in contacts if one.seat == move.seat), now)


def _release(state: Table, move: Move, now: int) -> Event:
    return ButtonReleased(at=_edge(state, move, now) + move.wait, seat=move.seat)


def _hold(state: Table, move: Move, now: int) -> Event:
    return ButtonHeld(at=_edge(state, move, now), seat=move.seat)


def _due(state: Table, _: Move, now: int) -> Event:
    return ClaimWindowElapsed(at=max(now, state.closes_at or now))


def _win(state: Table, move: Move, now: int) -> Event:
    winners = {one.seat: 8 + at for at, one in enumerate(state.declarations)}
    others = [seat for seat in SEATS if seat not in winners]
    alone = len(winners) == 1 and move.wait % 2 == 0
    discarder = None if alone or not others else others[0]
    if discarder and len(winners) > 1 and move.wait == S:  # the first on a discard, the others on tiles drawn after it
        first, *later = winners
        on: dict[Seat, Seat] = {first: discarder, **{seat: seat for seat in later}}
        return ValueEntered(at=now, win="discard", winners={first: 8}, discarder=discarder, declared_on=on)
    return ValueEntered(at=now, win="discard" if discarder else "self_drawn", winners=winners, discarder=discarder)


def _nonsense(_: Table, move: Move, now: int) -> Event:
    return ValueEntered(at=now, win="discard", winners={move.seat: 7}, discarder=move.seat)


def _ruled(move: Move, now: int, infraction: str, measure: Measure) -> Event:
    return InfractionRuled(at=now, seats=(move.seat,), infraction=infraction, measure=measure)


def _order(state: Table, now: int, command: Command, minutes: int = 0) -> Event:
    return Ordered(at=now, seq=state.last_order + 1, command=command, minutes=minutes)


def _forward(state: Table, move: Move, now: int) -> Event:
    """Do what the table waits for."""
    if state.paused:
        return _order(state, now, "resume")
    if state.phase is Phase.WAITING:
        return Assigned(at=now, assignment=PLAN)
    if state.phase is Phase.RESTORING and state.play:
        return right(state.play, state.unverified[0], now)
    if state.phase is Phase.RECORDED:
        return NextDealCalled(at=now)
    if event := {Phase.CLAIMING: _due, Phase.DECLARED: _win}.get(state.phase):
        return event(state, move, now)
    missing = [seat for seat in SEATS if seat not in (state.arrived if state.phase is Phase.SEATING else state.agreed)]
    return ButtonPressed(at=now, seat=missing[0] if state.phase is not Phase.PLAYING else move.seat)


MOVES: Final[dict[str, Callable[[Table, Move, int], Event]]] = {
    "forward": _forward,
    "right": _look(right),
    "wrong": _look(swapped),
    "unread": _unread,
    "strange": _look(strange),
    "apart": lambda _s, _m, now: CarrierTakenApart(at=now),
    "tick": lambda _s, move, now: RowTicked(at=now, seat=move.seat, row=move.wait // MS % 3),
    "untick": lambda _s, move, now: RowTicked(at=now, seat=move.seat, row=move.wait // MS % 3, right=False),
    "press": _press,
    "late": _late,
    "release": _release,
    "hold": _hold,
    "due": _due,
    "early": lambda _s, _m, now: ClaimWindowElapsed(at=now),
    "draw": lambda _s, _m, now: PlayEndedDrawn(at=now),
    "false": lambda _s, move, now: FalseHuRuled(at=now, seat=move.seat, imp=8, reason="why"),
    "false, odd": lambda _s, move, now: FalseHuRuled(at=now, seat=move.seat, imp=5, reason="why"),
    "win": _win,
    "nonsense": _nonsense,
    "refuse": lambda _s, _m, now: ResultRefused(at=now),
    "no hu": lambda _s, _m, now: NoHuMeant(at=now),
    "next": lambda _s, _m, now: NextDealCalled(at=now),
    "call": lambda state, _m, now: CallToggled(at=now, open=not state.calling),
    "call, again": lambda state, _m, now: CallToggled(at=now, open=state.calling),
    "pause": lambda state, _m, now: _order(state, now, "resume" if state.paused else "pause"),
    "pause, again": lambda state, _m, now: _order(state, now, "pause" if state.paused else "resume"),
    "clear call": lambda state, _m, now: _order(state, now, "clear_call"),
    "light": lambda state, _m, now: _order(state, now, "normal_light" if state.light == "quiet" else "quiet_light"),
    "extra time": lambda state, _m, now: _order(state, now, "extra_time", minutes=5),
    "old order": lambda state, _m, now: Ordered(at=now, seq=state.last_order, command="extra_time", minutes=5),
    "restart": lambda _s, _m, now: Restarted(at=now),
    "restart, same clock": lambda _s, _m, now: Restarted(at=now, same_clock=True),
    "swap": lambda _s, move, now: SeatsSwapped(at=now, one=move.seat, other="east", reason="why"),
    "override": lambda _s, _m, now: GuardOverridden(at=now, reason="why"),
    "bring forward": lambda _s, _m, now: DealBroughtForward(at=now, round=2, reason="why"),
    "arbiter": lambda _s, _m, now: ArbiterAdmitted(at=now, by="Anne"),
    "arbiter, gone": lambda _s, _m, now: ArbiterLeft(at=now),
    "wrong PIN": lambda _s, _m, now: PinRefused(at=now),
    "pause here": lambda state, _m, now: PauseRuled(at=now, begin=not state.paused),
    "extra time here": lambda _s, _m, now: ExtraTimeGiven(at=now, minutes=5),
    "void": lambda _s, _m, now: PlayVoided(at=now, reason="why"),
    "adjust": lambda _s, move, now: PlayAdjusted(at=now, at_fault=(move.seat,), reason="why"),
    "reopen": lambda _s, _m, now: Reopened(at=now, reason="why"),
    "reopen, by the desk": lambda state, _m, now: _order(state, now, "reopen"),
    "warned": lambda _s, move, now: _ruled(move, now, "sound", "warning"),
    "dead hand": lambda _s, move, now: _ruled(move, now, "false_call", "dead_hand"),
    "who declared": lambda _s, move, now: DeclarationsCorrected(at=now, seats=(move.seat,), reason="why"),
    "nobody declared": lambda _s, _m, now: DeclarationsCorrected(at=now, seats=(), reason="why"),
    "plan": lambda _s, _m, now: Assigned(at=now, assignment=PLAN),
    "longer plan": lambda _s, _m, now: Assigned(at=now, assignment=LONGER),
    "rewritten plan": lambda _s, _m, now: Assigned(at=now, assignment=REWRITTEN),
    "strange plan": lambda _s, _m, now: Assigned(at=now, assignment=STRANGE),
}

_KINDS: Final = [*["forward"] * 4 * len(MOVES), *["press"] * 6, *MOVES]

moves = st.builds(
    Move, kind=st.sampled_from(_KINDS), seat=st.sampled_from(SEATS), wait=st.sampled_from([0, MS, 400 * MS, S, 2 * S])
)


def walk(day: list[Move], start: Table | None = None) -> list[Step]:
    """Run a day. Every state is stored as a copy, in case it is changed later.

    The plan, which is most of it, is not copied at each step; that it was not changed is checked at the end.
    """
    state, now, steps = start or Table(), 50 * S, []
    for move in day:
        now += move.wait
        event = MOVES[move.kind](state, move, now)
        before, code = deepcopy(state, {id(state.assignment): state.assignment}), None
        facts: tuple[Fact, ...] = ()
        try:
            state, facts = handle(state, event)
        except NotNow as refused:
            code = refused.code
        steps.append(Step(before, event, state, facts, code))
    assert (PLAN, LONGER, REWRITTEN, STRANGE) == AS_MADE
    return steps


days = st.lists(moves, min_size=30, max_size=90).map(walk)
