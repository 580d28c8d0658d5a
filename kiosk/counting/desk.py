"""Where a hand is counted at one table: keys, the camera and the scorer's answers come in; the request goes out.

Nothing of it is kept: after a power cut the tiles lie there still, and are read and asked about again.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from broker.contract.counting import Counted, CountRequest, NotCounted
from broker.rules.laid_hand import LaidHand
from kiosk.counting.begun import AnyForm, begun, winner_asked
from kiosk.counting.mcr import AnyHand
from kiosk.counting.state import Counting, Typed, press
from kiosk.sight import HandSight, Winner
from kiosk.table.state import Table

AGAIN_NS: Final = 3_000_000_000
"""Without an answer for so long it is asked again: what was published may be lost."""

SILENT_NS: Final = 8_000_000_000
"""Without an answer for so long nobody should wait for one."""

NOT_YET: Final = frozenset({"not_declared", "not_restored"})
"""The scorer has not heard of the declaration or the walls: it is on its way, and the answer will be another."""

OTHERS: Final = frozenset({"a", "c"})
"""Keys that are not about the hand: the arbiter's."""


@dataclass(frozen=True, slots=True)
class CountShown:
    """What is to be seen of the counting."""

    counting: Counting
    silent: bool = False
    """No answer has come for a while, or there is nobody to ask."""


class CountDesk:
    """The counting at one table."""

    def __init__(self, event: str, table: int, send: Callable[[CountRequest], None]) -> None:
        """Take what publishes a request if there is a connection."""
        self._event, self._table, self._send = event, table, send
        self._counting: Counting | None = None
        self._sent_at = 0
        self.told: str | None = None
        """The key that answers who discarded, as the winning tile tells."""

    def follow(self, state: Table, form: AnyForm | None) -> None:
        """Stop where another hand, or none, is asked for by now."""
        winner = winner_asked(state, form)
        if self._counting is not None and self._counting.winner != winner:
            self._counting = None
        if form is None:
            self.told = None

    def key(self, key: str, state: Table, form: AnyForm | None, now: int) -> tuple[str, ...] | None:
        """Take a key; give the keys that the form gets for it, or None where it is none of ours."""
        if key in OTHERS:
            return None
        if self._counting is None:
            return self._open(key, state, form)
        done = press(self._counting, key, now, self._ask)
        if isinstance(done, Typed):
            self._close(self._counting, done)
            return done.keys
        if done.asked is not None and done.asked != self._counting.asked:
            self._put(done.asked, now)
        self._counting = done
        return ()

    def _open(self, key: str, state: Table, form: AnyForm | None) -> tuple[str, ...] | None:
        winner = winner_asked(state, form)
        if key != "b" or winner is None:
            return None
        self._counting = begun(winner, state)
        return ()

    def _close(self, counting: Counting, done: Typed) -> None:
        hand = counting.hand
        if done.keys and counting.accepted is not None and not isinstance(hand, str):
            self.told = "d" if hand.self_drawn else _whose(hand)
        self._counting = None

    def _ask(self, counting: Counting) -> CountRequest:
        play = counting.winner.play
        return CountRequest(
            id=uuid.uuid4().hex,
            event=self._event,
            table=self._table,
            round=play.round,
            deal=play.deal,
            seat=counting.winner.seat,
            groups=counting.win.groups(counting.sight),
            said=counting.win.said(counting.sight, counting.winner),
        )

    def _put(self, request: CountRequest, now: int) -> None:
        self._sent_at = now
        self._send(request)

    def saw(self, sight: HandSight) -> None:
        """Take in what the camera sees; while an answer is waited for, what was asked about stays."""
        if self._counting is not None and self._counting.asked is None:
            self._counting = replace(self._counting, sight=sight)

    def take(self, message: Counted) -> None:
        """Take in an answer; one to another question is an old one."""
        counting = self._counting
        if counting is None or counting.asked is None or counting.asked.id != message.asked:
            return
        answer = message.answer
        if not (isinstance(answer, NotCounted) and answer.code in NOT_YET):
            self._counting = replace(counting, answer=answer)

    def due(self, now: int) -> None:
        """Ask again what has no answer."""
        counting = self._counting
        if counting is None or counting.asked is None or counting.answer is not None:
            return
        if now >= self._sent_at + AGAIN_NS:
            self._put(counting.asked, now)

    @property
    def looked_for(self) -> Winner | None:
        """Whose hand the camera is to look at."""
        return self._counting.winner if self._counting is not None and self._counting.asked is None else None

    def shown(self, now: int, *, up: bool) -> CountShown | None:
        """Give what is to be seen; None where nothing is counted."""
        counting = self._counting
        if counting is None:
            return None
        waits = counting.asked is not None and counting.answer is None
        return CountShown(counting, silent=waits and (not up or now >= counting.asked_at + SILENT_NS))


def _whose(hand: AnyHand) -> str | None:
    """Give the key of who drew a claimed tile, as far as its wall tells."""
    return hand.discarder[0] if isinstance(hand, LaidHand) and hand.discarder else None
