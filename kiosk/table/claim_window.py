"""One claim window: presses by their edges, and who has declared when it is over. A value; it reads no clock.

A press counts from its edge, but what it was is known only when the finger lets go: a hold of two seconds calls the
arbiter and is no hu. So a press is kept here, silently, and taken out again if it turns out to be a hold. What follows
(when the window opened, when it closes, who is in it) is always reckoned from the presses that are left: in whatever
order seats are heard of, the same presses give the same window.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from broker.protocol import SEATS, Seat
from kiosk.table.events import NotNow

HOLD_NS: Final = 2_000_000_000
"""Who holds so long calls the arbiter."""


@dataclass(frozen=True, slots=True)
class WindowPress:
    """One press; `down` while nothing has been heard of its end, so that it may yet become a call."""

    seat: Seat
    at: int
    down: bool = True


@dataclass(frozen=True, slots=True)
class ClaimWindow:
    """A window of `length` ns. All times are ns of the table's clock."""

    length: int
    contacts: tuple[WindowPress, ...] = ()
    """One a seat at most, by edge; those of the same instant in turn order."""
    called_at: int | None = None
    """Edge of the latest press that became a call: the arbiter is told when the window closes, not before."""
    ended_at: int | None = None
    """When it was said that nobody won."""
    reopened_at: int | None = None
    """When a restart gave everybody the whole window again."""

    # ---- what follows from it ---------------------------------------------------------------

    @property
    def opened_at(self) -> int:
        """The first press, or that nobody won; a call opens it only where there is neither."""
        starts = [one.at for one in self.contacts[:1]]
        starts.extend([] if self.ended_at is None else [self.ended_at])
        return self._or_reopened(min(starts, default=self.called_at or 0))

    @property
    def deadline(self) -> int:
        """The instant from which a press is too late."""
        return self.opened_at + self.length

    @property
    def declared(self) -> tuple[WindowPress, ...]:
        """Who has declared, as far as known."""
        return tuple(one for one in self.contacts if one.at < self.deadline)

    @property
    def closes_at(self) -> int:
        """When the outcome is certain: after the deadline, a finger that is still down is waited for.

        Where somebody said that nobody won, the room knows when the window opened; it could then tell a finger by the
        waiting. So there it closes as late as if one had come down at the last instant, whether or not one has.
        """
        if self.ended_at is not None:
            return self.deadline + HOLD_NS
        return max([self.deadline, *(one.at + HOLD_NS for one in self.declared if one.down)])

    @property
    def last_deadline(self) -> float:
        """The deadline if all fingers that are down make calls; with nothing else there is no telling yet."""
        certain = [one.at for one in self.contacts if not one.down]
        certain.extend([] if self.ended_at is None else [self.ended_at])
        return self._or_reopened(min(certain)) + self.length if certain else float("inf")

    # ---- what happens to it -----------------------------------------------------------------

    def pressed(self, seat: Seat, at: int) -> "ClaimWindow":
        """Take a press in. Raises NotNow `press_again`, `press_after_window`."""
        before = self._of(seat)
        if before is not None and before.at <= at:
            raise NotNow("press_again", f"{seat} has declared already")
        if at >= self.last_deadline:
            raise NotNow("press_after_window", f"{seat}, when the claim window was over")
        # A press that is told after one that followed it has ended in between.
        return self._with(WindowPress(seat, at, down=before is None))

    def released(self, seat: Seat, at: int) -> "ClaimWindow":
        """Take in that a finger has let go. A hold is told before that, so its press was a hu."""
        contact = self._of(seat)
        if contact is None or not contact.down or at < contact.at:
            return self
        return self._with(replace(contact, down=False))

    def held(self, seat: Seat, at: int) -> "ClaimWindow":
        """Take a call in: the press of that edge is no hu."""
        left = (one for one in self.contacts if (one.seat, one.at) != (seat, at))
        called_at = at if self.called_at is None else max(self.called_at, at)
        return replace(self, contacts=tuple(left), called_at=called_at)

    def ended(self, at: int) -> "ClaimWindow":
        """Take in that somebody said nobody won; said again it changes nothing."""
        return self if self.ended_at is not None else _pruned(replace(self, ended_at=at))

    def shortened(self, at: int) -> "ClaimWindow":
        """Let no press count from here on; said again it changes nothing."""
        return _pruned(replace(self, length=max(1, min(self.length, at - self.opened_at))))

    def reopened(self, at: int) -> "ClaimWindow":
        """Return everybody the whole window again. Given once more, it never ends earlier than it was to."""
        return replace(self, reopened_at=self._or_reopened(at))

    def moved(self, by: int) -> "ClaimWindow":
        """Put everything so much later; distances stay."""
        return replace(
            self,
            contacts=tuple(replace(one, at=one.at + by) for one in self.contacts),
            called_at=_later(self.called_at, by),
            ended_at=_later(self.ended_at, by),
            reopened_at=_later(self.reopened_at, by),
        )

    @property
    def latest(self) -> int:
        """The latest time in it."""
        return max(self._times())

    # ---- its own ----------------------------------------------------------------------------

    def _of(self, seat: Seat) -> WindowPress | None:
        return next((one for one in self.contacts if one.seat == seat), None)

    def _with(self, new: WindowPress) -> "ClaimWindow":
        """Put a press in its place."""
        others = (one for one in self.contacts if one.seat != new.seat)
        return _pruned(replace(self, contacts=_ordered((*others, new))))

    def _or_reopened(self, at: int) -> int:
        return at if self.reopened_at is None else max(at, self.reopened_at)

    def _times(self) -> Iterator[int]:
        yield from (one.at for one in self.contacts)
        yield from (one for one in (self.called_at, self.ended_at, self.reopened_at) if one is not None)


def _ordered(contacts: Iterable[WindowPress]) -> tuple[WindowPress, ...]:
    return tuple(sorted(contacts, key=lambda one: (one.at, SEATS.index(one.seat))))


def _pruned(window: ClaimWindow) -> ClaimWindow:
    """Take out what can be in no window any more."""
    return replace(window, contacts=tuple(one for one in window.contacts if one.at < window.last_deadline))


def _later(at: int | None, by: int) -> int | None:
    return None if at is None else at + by
