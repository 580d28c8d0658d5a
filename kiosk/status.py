"""What a table publishes and shows of itself: its state, the health of its device, receipts, time and version."""

import time
import uuid
from dataclasses import replace
from functools import cache
from importlib import metadata
from typing import Final

from broker.protocol import Lifecycle, TableState, receipt_code, receipt_link
from firmware.reports import Health
from kiosk.config import Config
from kiosk.errors import PinGuessed, SelfTestFailed, SelfTestSkipped
from kiosk.journal import TableJournal
from kiosk.screens import QUIET, ScreenView
from kiosk.table import AT_THE_TABLE, FREE_TRIES, Phase, Table, paused_ms, play_minutes, played_ms


def state_message(
    config: Config,
    journal: TableJournal,
    state: Table,
    lifecycle: Lifecycle,
    unsent: int,
    health: dict[str, str],
    pin: str | None = None,
) -> TableState:
    """Return the message of a state; the uplink counts it."""
    return TableState(
        id=uuid.uuid4().hex,
        event=config.event,
        table=config.table,
        seq=journal.last_seq,
        device=journal.device,
        start=journal.start,
        count=0,
        lifecycle=lifecycle,
        state=state.public,
        round=state.play.round if state.play else None,
        deal=state.play.deal if state.play else None,
        unsent=unsent,
        calling=state.calling,
        paused=state.paused,
        ordered=state.ordered,
        obeyed=dict(state.obeyed),
        pin=pin,
        minutes=play_minutes(state),
        extra_min=state.extra_min,
        stood_ms=paused_ms(state),
        played_ms=played_ms(state),
        arbiter="" if state.arbiter == AT_THE_TABLE else state.arbiter,
        health=health,
    )


def people_health(state: Table) -> dict[str, str]:
    """Return what is told of what people did: skipped the self-test, or went on with what it found; guessed the PIN."""
    codes = {"skipped": SelfTestSkipped.code, "failed": SelfTestFailed.code}
    test = {"self_test": codes[state.self_test]} if state.self_test in codes else {}
    return {**test, "pin": PinGuessed.code} if state.pins_wrong >= FREE_TRIES else test


CONTACT: Final = "contact-"
"""How the health of one seat's contact is named: pulses come where a finger moves, so it waits for the play's end."""

BUTTONS: Final = "buttons"
"""How the health of all four buttons together is named."""

CAMERA: Final = "camera"

LATE_PRESS: Final = "press_told_late"
"""Somebody's declaration was lost, and the arbiter must hear of it."""


class DeviceHealth:
    """Codes of what is wrong, by part; what would tell of a finger waits until it cannot."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}
        self._waiting: dict[str, str | None] = {}

    @property
    def codes(self) -> dict[str, str]:
        """What is wrong, by part of the device."""
        return dict(self._codes)

    def say(self, part: str, code: str | None) -> None:
        """Remember what is wrong with a part of the device; None: nothing."""
        self._codes.pop(part, None)
        if code:
            self._codes[part] = code

    def report(self, health: Health, phase: Phase) -> None:
        """Take in what a device says of a part of itself; how contacts are waits while the table is quiet."""
        if health.part.startswith(CONTACT) and phase in QUIET:
            self._waiting[health.part] = health.code
        else:
            self.say(health.part, health.code)

    def moved(self, table: Table) -> None:
        """Follow a table to its next state: tell what waited, forget what the arbiter has seen by then."""
        hand_is_over = table.session is not None and table.phase is Phase.RECORDED
        if table.phase is Phase.RESTORING or hand_is_over:
            self._codes = {part: code for part, code in self._codes.items() if code != LATE_PRESS}
        for part, code in self._waiting.items():
            self.say(part, code)
        self._waiting.clear()


class ReceiptCodes:
    """Codes of one table's plays, made of what its journal holds."""

    def __init__(self, journal: TableJournal) -> None:
        self._journal = journal
        self._made: tuple[tuple[int, int, int], str | None] | None = None
        """Of which play, after how many facts; and its code."""

    def with_code(self, now: ScreenView, state: Table) -> ScreenView:
        """Add the code, and where it is to be looked up if the event has made an address known."""
        code, plan = self.code(state), state.assignment
        link = receipt_link(plan.public_address, code) if code and plan else ""
        return replace(now, receipt=code, receipt_link=link)

    def code(self, state: Table) -> str | None:
        """Return the code while the play is recorded; None where its result does not stand."""
        play = state.play
        if play is None or state.phase is not Phase.RECORDED or state.outcome is None or state.ruled:
            return None
        asked = play.round, play.deal, self._journal.last_seq
        if self._made is None or self._made[0] != asked:
            told = self._journal.result(play.round, play.deal)
            self._made = asked, receipt_code(told) if told else None
        return self._made[1]


def time_of_day() -> str:
    """Return the local time of day; for people only, nothing is decided by it."""
    return time.strftime("%H:%M")


@cache
def program_version() -> str:
    """Return the version of the program; of one that is not installed, none."""
    try:
        return metadata.version("homologue")
    except metadata.PackageNotFoundError:
        return ""
