"""Which arbiter goes to which call, and who has seen which alert: kept in the store, so that a restart forgets nothing.

Of two who press at once the first goes: each says what they saw, and the second saw something else. A mark holds for
what was there when it was made: a call that is opened later has nobody, an alert that comes anew nobody has seen.
"""

from collections.abc import Callable
from typing import Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from broker.errors import CallAttended
from broker.protocol import Call, LogMessage
from broker.scorer.tables import Since
from broker.scorer.view import AlertView, Attending
from broker.store import Journal

GOING: Final = "goes/"
SEEN: Final = "seen/"
"""Under which keys the store keeps them: by table, and by `key_of` an alert."""

NOBODY: Final = "null"


T = TypeVar("T", bound=Struct)


class GoingToCall(Struct, frozen=True):
    """That somebody goes to the call that a table opened at a time (ms since 1970); None: not known yet."""

    by: Attending
    call: int | None


class SeenMark(Struct, frozen=True):
    """That somebody has seen the alerts of one kind up to a time (ms since 1970)."""

    by: Attending
    upto: int


def alert_key(alert: AlertView) -> str:
    """Name what an alert is of: one that comes anew has the same name."""
    return "/".join((alert.code, *("" if one is None else str(one) for one in (alert.table, alert.about))))


class Attendance:
    """On the scorer's thread alone. `clock` gives ms since 1970; `changed` is called with the tables concerned."""

    def __init__(self, journal: Journal, clock: Callable[[], int], changed: Callable[[set[int]], None]) -> None:
        self._journal, self._clock, self._changed = journal, clock, changed
        goes, seen = journal.remembered(GOING), journal.remembered(SEEN)
        self._goes = {int(table): found for table, text in goes.items() if (found := _read_kept(text, GoingToCall))}
        self._seen = {key: mark for key, text in seen.items() if (mark := _read_kept(text, SeenMark))}
        self._shown: tuple[tuple[AlertView, ...], tuple[AlertView, ...]] = ((), ())

    # ---- calls ------------------------------------------------------------------------------

    def call(self, table: int, since: int | None) -> Attending | None:
        """Return who goes to a table's call; `since` when it was opened, None where that is not known."""
        found = self._goes.get(table)
        if found is None:
            return None
        opened_before = found.call is None and since is not None and since <= found.by.at
        return found.by if found.call == since or opened_before else None

    def comes(self, table: int, call: Since | None) -> bool:
        """Return whether an arbiter is on the way to this call of a table, if there is one."""
        return call is not None and self.call(table, call.at) is not None

    def go(self, table: int, since: int | None, seen: int, account: str, name: str) -> bool:
        """Let an arbiter go to a call. `seen`: the `at` of whom they saw go there, to take over; 0: nobody.

        Return whether that is news. Raises CallAttended where another one goes by now.
        """
        before = self.call(table, since)
        if before and before.account == account:
            return False
        self._refuse_unless(before, seen, table)
        now = max(self._clock(), before.at + 1 if before else 0)
        self._keep(table, GoingToCall(Attending(account, name, now), since))
        return True

    def stay(self, table: int, since: int | None, seen: int, account: str) -> bool:
        """Let an arbiter who goes to a call not go; return whether that is news.

        Raises CallAttended where another one goes by now.
        """
        before = self.call(table, since)
        if before is None:
            return False
        self._refuse_unless(before, seen if before.account == account else 0, table)
        self._keep(table, None)
        return True

    def apply(self, message: LogMessage) -> None:
        """Forget who went to a call that is over. By a clock that is behind a later one could seem the same."""
        if isinstance(message.fact, Call) and not message.fact.open and message.table in self._goes:
            self._keep(message.table, None)

    def _refuse_unless(self, before: Attending | None, seen: int, table: int) -> None:
        if (before.at if before else 0) != seen:
            goes = before.name if before else "nobody"
            raise CallAttended(f"table {table}: {goes} goes there by now")

    def _keep(self, table: int, goes: GoingToCall | None) -> None:
        with self._journal.commit():
            self._journal.remember(f"{GOING}{table}", msgspec.json.encode(goes).decode() if goes else NOBODY)
        self._goes.pop(table, None)
        if goes:
            self._goes[table] = goes
        self._changed({table})

    # ---- alerts -----------------------------------------------------------------------------

    def alerts(self, kept: tuple[AlertView, ...]) -> tuple[AlertView, ...]:
        """Return alerts with who has seen each."""
        if self._shown[0] is not kept:
            self._shown = kept, tuple(self._with_who(alert) for alert in kept) if self._seen else kept
        return self._shown[1]

    def see(self, alert: AlertView, account: str, name: str) -> bool:
        """Note that somebody has seen an alert, and those of its kind before it; the first who has is named.

        Return whether that is news.
        """
        mark = self._seen.get(alert_key(alert))
        if mark is not None and mark.upto >= alert.at:
            return False
        self._note(alert_key(alert), SeenMark(Attending(account, name, self._clock()), alert.at))
        return True

    def unsee(self, alert: AlertView) -> bool:
        """Take back that an alert was seen; return whether that is news."""
        if alert_key(alert) not in self._seen:
            return False
        self._note(alert_key(alert), None)
        return True

    def _note(self, key: str, mark: SeenMark | None) -> None:
        with self._journal.commit():
            self._journal.remember(f"{SEEN}{key}", msgspec.json.encode(mark).decode() if mark else NOBODY)
        self._seen.pop(key, None)
        if mark:
            self._seen[key] = mark
        self._shown = ((), ())
        self._changed(set())

    def _with_who(self, alert: AlertView) -> AlertView:
        mark = self._seen.get(alert_key(alert))
        return replace(alert, seen=mark.by) if mark and alert.at <= mark.upto else alert


def _read_kept(text: str, kind: type[T]) -> T | None:
    """Read what was kept; what cannot be read is as if it were not there."""
    try:
        return msgspec.json.decode(text, type=kind | None)
    except (msgspec.DecodeError, UnicodeError):
        return None
