"""Calls and alerts in words: device faults, messages that were refused or kept apart, guards that were overridden.

Devices of any version send codes. A code without words here is shown as it is.

Changes to accounts, devices, the PIN and faces raise an alert too, so that a bribed helper cannot make them unseen.
They are read from the audit log and not from the pages, which covers commands on the server's machine as well.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from broker.device_faults import DEVICE_FAULT, PART, PART_FAULT
from broker.i18n import N_, SEAT_NAMES, Message, duration
from broker.people import AuditEntry, PeopleStoreBroken, accounts
from broker.scorer import ALERT_CODES, AlertView, TableView
from broker.scorer.alerts import Concern
from broker.store import LogHead
from broker.web.i18n import HtmlTranslator
from broker.web.labels import RULING, account_text, recorded_text
from broker.web.problems import detail_message

SEPARATOR: Final = Markup(" · ")


def fault_message(_: HtmlTranslator, part: str, code: str) -> Markup:
    """Return a part of a device and its fault, in words. `part` is a name from health: `camera`, `button-east`."""
    known = DEVICE_FAULT.get(code) or PART_FAULT.get(part)
    if known is None:
        return _("{part}: {fault}", part=device_part_name(_, part), fault=code)
    text = _("{part}: {fault}", part=device_part_name(_, part), fault=_(known))
    return _with_code(text, code)


def device_part_name(_: HtmlTranslator, part: str) -> Markup:
    """Return the name of a part of a device."""
    kind, *seat = part.split("-", 1)
    if kind not in PART or (seat and seat[0] not in SEAT_NAMES):
        return Markup("{}").format(part)
    return _(PART[kind], seat=_(SEAT_NAMES[seat[0]]) if seat else "")


def health_change(_: HtmlTranslator, what: str) -> Markup:
    """Describe a health change: faults (`camera: camera_dark; lamps: box_silent`), or parts that work again."""
    parts = [one.partition(": ") for one in what.split("; ")]
    return SEPARATOR.join(fault_message(_, one[0], one[2]) if one[2] else device_part_name(_, one[0]) for one in parts)


def overridden_guards(_: HtmlTranslator, guards: str) -> Markup:
    """Describe the guards that had stopped a play: `deal_played_here, out_of_order`."""
    return SEPARATOR.join(_guard(_, code) for code in guards.split(", "))


def _guard(_: HtmlTranslator, code: str) -> Markup:
    return _with_code(_(GUARD[code]), code) if code in GUARD else Markup("{}").format(code)


def _with_code(text: Markup, code: str) -> Markup:
    return Markup("{} <code>{}</code>").format(text, code)


GUARD: Final[Mapping[str, Message]] = {
    "deal_played_here": N_("this table played it before"),
    "player_played_deal": N_("a player there played it before"),
    "out_of_order": N_("played before its turn"),
    "declarations_corrected": N_("declaration corrected"),
}

REFUSED_MESSAGE: Final[Mapping[str, Message]] = {
    "another_device": N_("another device is in use at this table. Switch one of them off; both keep their entries."),
    "bad_signature": N_("its signature is not the device’s. Somebody may be using this table’s password."),
    "chain_broken": N_(
        "it does not follow the table’s earlier messages. The device sends it again; nothing needs to be done."
    ),
    "conflict": N_(
        "a different message with the same number arrived before. Check whether two devices are in use at this table."
    ),
    "fine_not_in_profile": N_("the event’s rules have no such fine."),
    "id_reused": N_("its id was used by another message. Check whether a device’s journal was copied."),
    "impossible_result": N_("this outcome is not possible under the event’s rules."),
    "malformed": N_("it could not be read. Check that the device has the same version as the desk."),
    "not_for_scorer": N_("tables do not send this kind of message."),
    "not_planned": N_("the table has no such play or session in that round."),
    "not_ruled_here": N_("only the desk can send the head arbiter’s rulings."),
    "pin_locked": N_(
        "it was ruled with a PIN typed offline, after too many wrong PINs at this table. Rule at the desk."
    ),
    "pin_unproven": N_("the PIN that was typed while the table was offline is wrong. Nothing ruled with it counts."),
    "seq_out_of_range": N_("too many earlier messages are missing; they have to arrive first."),
    "session_ended": N_("it was ruled after the arbiter had left the table. Rule at the desk if it is to count."),
    "session_missing": N_("no arbiter was let in for it. Check who is using this table’s device."),
    "session_unknown": N_("no arbiter was let in for it at this table. Check who is using this table’s device."),
    "too_large": N_("it is too long."),
    "too_many_rulings": N_(
        "this table has sent twenty rulings on one play. Check its device, and make rulings at the desk."
    ),
    "too_many_facts": N_("this table sends far more of this in one round than people can. Check its device."),
    "unknown_device": N_(
        "its device is not known at this table. Check its ID at the table and accept it under Devices."
    ),
    "unknown_fact": N_(
        "it comes from a newer program and is not known here. It is sent again once the desk is upgraded."
    ),
    "unknown_table": N_("the event has no table with that number."),
    "unknown_topic": N_("its topic is unknown. Check for a device with another program or version."),
    "unsigned": N_("it is not signed. Update the device, or check whether somebody is using this table’s password."),
    "hall_cut_off": N_("its hall was revoked."),
    "hall_row_altered": N_("it is not what its hall had stored. Check the disk there."),
    "not_of_hall": N_("it is about tables or players of another hall."),
    "unknown_hall": N_("the event has no such hall."),
    "wrong_deal": N_("its deal does not match its topic."),
    "wrong_hall": N_("its hall does not match its topic."),
    "wrong_event": N_("it belongs to another event. The device is probably still set up for that."),
    "wrong_players": N_("the players are not the ones planned there."),
    "wrong_points": N_("the points do not match the outcome under the event’s rules."),
    "wrong_profile": N_("it was scored with different rules from the event’s."),
    "wrong_table": N_("its table does not match its topic. Check the device’s configuration."),
}

APART: Final[Mapping[str, Message]] = {
    "play_begun": N_("The play had already begun."),
    "play_deal_differs": N_("The walls had been restored for another deal."),
    "play_declared_twice": N_("A player declared a second time."),
    "play_not_confirmed": N_("The players had not confirmed their tiles."),
    "play_not_recorded": N_("There was no result to reopen."),
    "play_not_restored": N_("The walls had not been restored."),
    "play_not_seated": N_("The players had not checked in at their seats."),
    "play_out_of_turn": N_("It was not its turn: an earlier play of this table has no result."),
    "play_recorded": N_("The play already had a result."),
    "play_ruled": N_("An arbiter at the table had already ended the play."),
    "play_seats_differ": N_("The players are not in the seats where they checked in."),
    "play_waits": N_("Earlier messages are missing. It will count automatically once they arrive."),
    "play_winners_differ": N_("The winners are not those who declared."),
    "play_entry_differs": N_("The previous entry is missing, or is a different one."),
    "play_hand_differs": N_("It belongs to another hand of the session."),
    "play_session_over": N_("The session was over."),
}
"""Why a message about a play is kept apart."""


def _span_text(_: HtmlTranslator, span: str) -> Markup:
    """Translate a duration that an alert contains as English text."""
    *hours, minutes = (int(number) for number in re.findall(r"\d+", span))
    return _(duration(60 * (60 * sum(hours) + minutes)))


ALERT_VALUES: Final = {
    "span": _span_text,
    "what": health_change,
    "guards": overridden_guards,
    "who": recorded_text,
    "detail": account_text,
    "author": recorded_text,
    "reason": recorded_text,
}
"""Functions that put an alert's codes and fixed words into the reader's language, by the name of the value."""


@pass_context
def device_fault_text(context: Context, part: str, code: str) -> Markup:
    """Describe a fault of a part of a table's device in the reader's language."""
    return fault_message(context["_"], part, code)


@pass_context
def alert_text(context: Context, alert: AlertView) -> Markup:
    """Describe an alert in the reader's language. For a refused message, the scorer's own text adds the details."""
    _: HtmlTranslator = context["_"]
    table, kind = alert.table or "?", alert.values.get("kind")
    named = {"kind": _(RULING[kind])} if isinstance(kind, str) and kind in RULING else {}
    named |= {
        name: describe(_, str(alert.values[name])) for name, describe in ALERT_VALUES.items() if name in alert.values
    }
    if alert.code in ALERT_CODES:
        return _(ALERT_CODES[alert.code], **{**alert.values, "table": table, **named})
    if alert.code in APART:
        return _(
            N_("Table {table}, round {round}, deal {deal} is kept apart: an arbiter has to decide. {why}"),
            table=table,
            round=alert.values["round"],
            deal=alert.values["deal"],
            why=_(APART[alert.code]),
        )
    why = REFUSED_MESSAGE.get(alert.code, alert.code)
    about = _(
        N_("A message of table {table} was refused: {why}") if alert.table else N_("A message was refused: {why}"),
        table=table,
        why=why,
    )
    return about + detail_message(_, alert.text)


def alert_value(alert: AlertView) -> str:
    """Return the form value that identifies an alert."""
    return f"{alert.at} {alert.code} {alert.table or 0} {'' if alert.about is None else alert.about}"


class Alerts(NamedTuple):
    """Unseen and seen alerts, each newest first."""

    fresh: tuple[AlertView, ...]
    seen: tuple[AlertView, ...]


def split_alerts(alerts: Iterable[AlertView]) -> Alerts:
    """Separate the alerts that nobody has seen from the others."""
    listed = tuple(alerts)
    return Alerts(tuple(one for one in listed if not one.seen), tuple(one for one in listed if one.seen))


def calling_tables(tables: Iterable[TableView]) -> list[TableView]:
    """Return the calling tables, longest wait first. Those whose wait is unknown come last."""
    calling = [table for table in tables if table.calling]
    return sorted(calling, key=lambda table: (table.calling_since is None, table.calling_since or 0, table.table))


TOLD_ACTIONS: Final = frozenset(
    {
        "arbiters_pin_set",
        "pairing_opened",
        "pairing_taken",
        "device_accepted",
        "faces_shown",
        "account_added",
        "account_disabled",
        "account_enabled",
        "password_set",
        "token_added",
        "webhook_added",
        "people_restored",
        "device_listed",
        "device_revoked",
        "event_closed",
    }
)
"""Audited actions that raise an alert for the head arbiter. The action is also the alert's code (docs/codes.md)."""

TABLE_ACTIONS: Final = {"pairing_taken", "device_accepted", "device_listed", "device_revoked"}

PAUSE_S: Final = 1.0


def concern_of_entry(entry: AuditEntry) -> Concern | None:
    """Return the alert that an audit entry raises, or None."""
    if entry.action not in TOLD_ACTIONS:
        return None
    values: dict[str, int | str] = {"who": entry.who, "about": entry.about, "detail": entry.detail}
    table = int(entry.about) if entry.action in TABLE_ACTIONS and entry.about.isdecimal() else None
    return Concern(entry.action, table, about=entry.number, values=values)


class AuditWatch:
    """Follows the audit log and reports new entries, as a context manager. Its own thread may wait for the store."""

    def __init__(self, audit: accounts.AuditLog, report: Callable[[Concern], None], pause_s: float = PAUSE_S) -> None:
        self._audit, self._report, self._pause_s = audit, report, pause_s
        self.head = LogHead()
        """The last entry that was read. Safe to read from any thread."""
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name="audit log", daemon=True)

    def past(self) -> list[tuple[int, Concern]]:
        """Return what the existing entries raise, each with its timestamp in ms. Raises PeopleStoreBroken."""
        return list(self._new())

    def __enter__(self) -> "AuditWatch":
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the thread and wait for it."""
        self._ending.set()
        self._thread.join()

    def look(self) -> None:
        """Report new entries. Raises PeopleStoreBroken."""
        for _, concern in self._new():
            self._report(concern)

    def _new(self) -> Iterator[tuple[int, Concern]]:
        for entry in self._audit.after(self.head.number):
            self.head = LogHead(entry.number, entry.digest)
            if concern := concern_of_entry(entry):
                yield entry.at, concern

    def _work(self) -> None:
        while not self._ending.wait(self._pause_s):
            with suppress(PeopleStoreBroken):  # pages report it; unread entries are read next time
                self.look()
