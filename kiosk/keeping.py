"""Keeping a play for replays: after its result, the rivers, hands and melds are read and sent to the scorer.

This is offered once the result is recorded and safe, and is never required. Nothing is stored before everything has
been read: after a power cut the tiles are still on the table. It ends with the next play, however far it has come.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec import structs

from broker.protocol import SEATS, Counted, LaidSeat, LogMessage, PlannedPlay, PlayFound, Seat, TilesLaid
from kiosk.camera.observations import LaidObservation, LaidPart, LaidTiles
from kiosk.table import Event, Phase, Table, events

STEPS: Final[tuple[tuple[Seat, LaidPart], ...]] = tuple((seat, part) for seat in SEATS for part in ("river", "hand"))
"""The parts to read, in this order."""

KEEP_KEY, ACCEPT_KEY, SKIP_KEY, GAPS_KEY, BACK_KEY, LEAVE_KEY = "k", "enter", "n", "g", "back", "q"
"""Keys. `BACK_KEY` goes back one step, and leaves at the first."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """What has been read so far. `at` is the index of the current step, past the last one when all is read."""

    play: PlannedPlay
    at: int = 0
    seats: dict[Seat, LaidSeat] = field(default_factory=dict)
    apart: tuple[Seat, int] | None = None
    """The serial of the winning tile if it lay apart, and the seat in front of which it lay."""
    gaps: bool = True
    """Whether claimed tiles have left gaps in the rivers."""
    observation: LaidObservation = LaidObservation()  # noqa: RUF009 - frozen
    fact_id: str | None = None
    """Id of the fact that reports the tiles."""
    answer: PlayFound | None = None
    """The scorer's findings."""

    @property
    def target(self) -> LaidTiles | None:
        """The part that the camera is to read now; None after the last step."""
        return LaidTiles(self.play, *STEPS[self.at]) if self.at < len(STEPS) else None

    @property
    def others(self) -> dict[Seat, LaidSeat]:
        """What has been read, without the current part, which may be read again."""
        target = self.target
        had = self.seats.get(target.seat) if target else None
        if target is None or had is None:
            return self.seats
        less = (
            structs.replace(had, river=(), gaps=False, either_end=False)
            if target.part == "river"
            else structs.replace(had, hand=None, melds=())
        )
        rest = {seat: one for seat, one in self.seats.items() if seat != target.seat}
        return rest if less == LaidSeat() else {**rest, target.seat: less}

    @property
    def whole(self) -> bool:
        """Whether every river and every hand with its melds was read."""
        return all(
            seat in self.seats and self.seats[seat].river and self.seats[seat].hand is not None for seat in SEATS
        )

    @property
    def seen(self) -> LaidObservation:
        """The camera's observation of the current part; a tile that was already read elsewhere is a problem."""
        seen = self.observation
        if seen.target != self.target:
            return LaidObservation(self.target)
        taken = set[int]().union(*map(_serials, self.others.values()))
        if seen.laid is not None and _serials(seen.laid) & taken:
            return replace(seen, laid=None, problem="laid_taken")
        return seen

    @property
    def ready(self) -> bool:
        """Whether the tiles can be accepted as they lie."""
        return self.seen.still and self.seen.laid is not None

    def with_accepted(self) -> "Keeping":
        """Accept the tiles as they lie, and go to the next step."""
        seen = self.seen
        if seen.target is None or seen.laid is None:
            return self
        had, new = self.others.get(seen.target.seat, LaidSeat()), seen.laid
        both = (
            structs.replace(had, river=new.river, gaps=new.gaps, either_end=new.either_end)
            if seen.target.part == "river"
            else structs.replace(had, hand=new.hand, melds=new.melds)
        )
        now = self.with_skipped()
        apart = now.apart if seen.winning is None else (seen.target.seat, seen.winning)
        return replace(now, seats={**now.seats, seen.target.seat: both}, apart=apart)

    def with_skipped(self) -> "Keeping":
        """Skip the current part."""
        target = self.target
        stale = target is not None and target.part == "hand" and self.apart is not None and self.apart[0] == target.seat
        return replace(self, at=self.at + 1, seats=self.others, apart=None if stale else self.apart)

    def event(self, at: int) -> events.PlayKept:
        """Return the event that reports the tiles."""
        seats = {seat: structs.replace(one, gaps=one.gaps and self.gaps) for seat, one in self.seats.items()}
        return events.PlayKept(at=at, seats=seats, winning=self.apart[1] if self.apart else None)


def _serials(laid: LaidSeat) -> set[int]:
    return {serial for row in (laid.river, laid.hand or (), *laid.melds) for serial in row if serial}


class KeepDesk:
    """The keeping of one play, from the key that starts it. `apply` returns a refusal's code, or None."""

    def __init__(self, play: PlannedPlay, apply: Callable[[Event], str | None]) -> None:
        self.now, self._apply = Keeping(play), apply
        self.over = False

    def follow(self, state: Table) -> None:
        """End when this play is no longer the recorded one, or an arbiter has ruled on it."""
        recorded = state.phase is Phase.RECORDED and state.outcome is not None and state.ruled is None
        self.over |= not recorded or state.play != self.now.play

    def key(self, key: str, now: int) -> bool:
        """Handle a key; return whether it was one of ours."""
        if self.now.target is None or key == LEAVE_KEY or (key == BACK_KEY and not self.now.at):
            self.over = True
            return key in (BACK_KEY, LEAVE_KEY)  # after the last step, any other key is meant for what follows
        if key == BACK_KEY:
            self.now = replace(self.now, at=self.now.at - 1)
        elif key == GAPS_KEY:
            self.now = replace(self.now, gaps=not self.now.gaps)
        elif key == SKIP_KEY:
            self._go_on(self.now.with_skipped(), now)
        elif key == ACCEPT_KEY:
            if self.now.ready:
                self._go_on(self.now.with_accepted(), now)
        else:
            return False
        return True

    def _go_on(self, keeping: Keeping, now: int) -> None:
        """Go to the next part. After the last one, send everything to the scorer, unless nothing was read."""
        self.now = keeping
        if keeping.target is None:
            self.over = not keeping.seats or self._apply(keeping.event(now)) is not None

    def observe(self, observation: LaidObservation) -> None:
        """Accept the camera's latest observation."""
        self.now = replace(self.now, observation=observation)

    def sent(self, messages: Iterable[LogMessage]) -> None:
        """Note the id of the fact that reports the tiles."""
        for one in messages:
            if isinstance(one.fact, TilesLaid):
                self.now = replace(self.now, fact_id=one.id)

    def take(self, message: Counted) -> None:
        """Accept the scorer's findings, unless they are about an earlier attempt."""
        if isinstance(message.answer, PlayFound) and message.asked == self.now.fact_id:
            self.now = replace(self.now, answer=message.answer)
