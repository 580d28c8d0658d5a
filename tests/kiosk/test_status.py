"""The receipt's code on the table's screen, and the arbiter's panel: unchanged by a power cut."""

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from broker.protocol import AtCentre, Receipt, Refusal, Result, receipt_code
from kiosk.config import BrokerSettings, Config, DeviceSettings
from kiosk.input import ArbiterPanel, Keyboard
from kiosk.input.panel import opened_panel, panel_draft, panel_from_draft
from kiosk.journal import TableJournal
from kiosk.screens import RecordedView, ScreenView, StatusLine, drawing
from kiosk.screens.table import status_lines
from kiosk.screens.texts import translator
from kiosk.screens.views import IdleView
from kiosk.status import Receipts, TableStatus
from kiosk.table import Phase, Table
from kiosk.table.events import (
    ArbiterAdmitted,
    Assigned,
    PlayVoided,
    Reopened,
)
from kiosk.uplink import Uplink
from tests.kiosk.journals import OURS, core, receipt
from tests.kiosk.keyed import NoPin
from tests.kiosk.standing import phase_view
from tests.kiosk.tables import EVENT, TABLE, S, sitting_in

RECORDED = sitting_in(Phase.RECORDED).events


class Yes(NoPin):
    """A PIN that is always right."""

    known = True
    mark = None

    def right(self, _: str) -> bool:
        return True


def test_the_code_is_that_of_the_result_as_the_scorer_will_have_it_and_survives_a_restart(
    tmp_path: Path,
) -> None:
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        table, codes = core(journal), Receipts(journal)
        for event in RECORDED:
            assert codes.code(table.state) is None
            table.apply(event)
        (result,) = [message for message in journal.unsent() if isinstance(message.fact, Result)]
        assert codes.code(table.state) == receipt_code(result)
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        assert Receipts(journal).code(core(journal).state) == receipt_code(result)


def test_a_result_that_was_taken_back_has_no_receipt(tmp_path: Path) -> None:
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        table, codes = core(journal), Receipts(journal)
        for event in (*RECORDED, ArbiterAdmitted(at=99 * S, by="Anne")):
            table.apply(event)
        assert codes.code(table.state) is not None
        table.apply(Reopened(at=100 * S, reason="entered wrongly"))
        assert codes.code(table.state) is None
        table.apply(PlayVoided(at=101 * S, reason="entered wrongly"))
        assert codes.code(table.state) is None


@pytest.mark.parametrize(
    ("address", "link"), [("", ""), ("https://results.example.org", "https://results.example.org/receipt/{code}")]
)
def test_the_code_comes_with_a_link_if_the_event_has_published_its_address(
    tmp_path: Path, address: str, link: str
) -> None:
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        table = core(journal)
        for event in RECORDED:
            table.apply(published(event, address) if isinstance(event, Assigned) else event)
        facts = Uplink(journal, NoWire(), EVENT, TABLE)
        now = receipt_of(TableStatus(CONFIG, journal), table.state, facts)
        assert now.receipt is not None
        assert (now.receipt_link, now.anchor) == (link.format(code=now.receipt), "")


CONFIG = Config(event=EVENT, table=TABLE, folder=".", broker=BrokerSettings("h", 1), devices=DeviceSettings("", ""))
ANCHOR, LATER = "DFRB-CMEV-KN1M-YC9Q-G4B1-BZVK-P1P4", "DFRB-CMEV-KN1M-YC9Q-G4B1-BZVK-P1P5"


class NoWire:
    """Takes what is published."""

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Take a message."""


def receipt_of(status: TableStatus, state: Table, facts: Uplink) -> RecordedView:
    return phase_view(status.with_receipt(ScreenView(3, RecordedView()), state, facts), RecordedView)


def test_the_anchor_is_shown_once_the_scorer_has_the_play_and_does_not_change(
    tmp_path: Path,
) -> None:
    """So nobody scans a code that changes; and the part of the link after # is never sent to a server."""
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        table, status = core(journal), TableStatus(CONFIG, journal)
        for event in RECORDED:
            table.apply(published(event, "https://example.org") if isinstance(event, Assigned) else event)
        facts, unsent = Uplink(journal, NoWire(), EVENT, TABLE), journal.unsent()
        early = receipt(taken={one.seq: one.id for one in unsent[:-1]})
        facts.apply_receipt(structs.replace(early, anchor=ANCHOR), now=1)
        assert receipt_of(status, table.state, facts).anchor == ""
        for anchor in (ANCHOR, LATER):
            whole = receipt(taken={one.seq: one.id for one in unsent})
            facts.apply_receipt(structs.replace(whole, anchor=anchor), now=2)
            now = receipt_of(status, table.state, facts)
            assert (now.anchor, now.receipt_link) == (ANCHOR, f"https://example.org/receipt/{now.receipt}#{ANCHOR}")


def test_in_a_hall_it_is_shown_whether_the_centre_has_a_result_once_the_scorer_has_it(tmp_path: Path) -> None:
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        table, status = core(journal), TableStatus(CONFIG, journal)
        for event in RECORDED:
            table.apply(event)
        facts, unsent = Uplink(journal, NoWire(), EVENT, TABLE), journal.unsent()
        last, all_taken = unsent[-1], receipt(taken={one.seq: one.id for one in unsent})

        def shown(said: Receipt, centre: AtCentre | None) -> bool | None:
            facts.apply_receipt(structs.replace(said, centre=centre), now=1)
            return receipt_of(status, table.state, facts).at_centre

        early = receipt(taken={one.seq: one.id for one in unsent[:-1]})
        refused = structs.replace(early, refused=(Refusal(seq=last.seq, id=last.id, code="malformed"),))
        assert [shown(one, AtCentre(upto=last.seq)) for one in (early, refused)] == [None, None]
        assert shown(all_taken, None) is None
        assert shown(all_taken, AtCentre(upto=last.seq - 1)) is False
        assert shown(all_taken, AtCentre(upto=last.seq, lacks=(last.seq,))) is False
        assert shown(all_taken, AtCentre(upto=last.seq, lacks=(last.seq - 1,))) is True
        assert shown(all_taken, AtCentre(upto=last.seq - 1)) is False


def published(plan: Assigned, address: str) -> Assigned:
    return structs.replace(plan, assignment=structs.replace(plan.assignment, public_address=address))


# ---- the arbiter's panel ----------------------------------------------------------------------


def let_in(journal: TableJournal) -> tuple[Keyboard, Table]:
    """Return the keyboard of a table in a play, with an admitted arbiter."""
    table = core(journal)
    if journal.empty:
        for event in (*sitting_in(Phase.PLAYING).events, ArbiterAdmitted(at=99 * S, by="Anne")):
            table.apply(event)
    keyboard = Keyboard(lambda _: None, Yes(), journal)
    keyboard.follow(table.state)
    return keyboard, table.state


@pytest.mark.parametrize(
    "keys",
    [
        "a",
        "a 5",
        "a 6",
        "a 5 1 5",
        "a 5 1 5 enter",
        "a 2",
        "a 2 w",
        "a 2 w enter 6 1",
        "a 3 n",
        "a 3 n enter",
        "a 3 back",
        "a 4 4",
    ],
)
def test_the_panel_is_unchanged_after_a_power_cut(tmp_path: Path, keys: str) -> None:
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        keyboard, state = let_in(journal)
        for key in keys.split():
            keyboard.key(key, state, 100 * S)
        before = keyboard.panel
        assert before is not None
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        keyboard, _ = let_in(journal)
        assert keyboard.panel == before


@pytest.mark.parametrize("keys", ["a back", "a 6 3", "a 5 5 enter 6", "a 4 4 y"])
def test_a_panel_that_was_closed_stays_closed(tmp_path: Path, keys: str) -> None:
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        keyboard, state = let_in(journal)
        for key in keys.split():
            keyboard.key(key, state, 100 * S)
        assert (keyboard.panel, journal.panel) == (None, "")


def test_of_a_pin_only_that_it_was_asked_for_is_saved_and_it_is_asked_for_again() -> None:
    playing = sitting_in(Phase.PLAYING).table
    assert panel_draft(ArbiterPanel("pin", digits="1234")) == panel_draft(ArbiterPanel("pin"))
    assert panel_from_draft(panel_draft(ArbiterPanel("pin", digits="1234")), playing) == ArbiterPanel("pin")


def test_no_panel_is_restored_after_leaving_or_if_other_rulings_are_possible() -> None:
    playing = sitting_in(Phase.PLAYING).table
    restoring = sitting_in(Phase.RESTORING)
    restoring.admit()
    assert [panel_from_draft(panel_draft(opened_panel(playing)), state) for state in (playing, restoring.table)] == [
        None,
        None,
    ]


@given(st.text(max_size=60))
def test_an_invalid_draft_of_the_panel_is_ignored(text: str) -> None:
    table = sitting_in(Phase.PLAYING)
    assert panel_from_draft(text, table.table) is None


def test_an_unencrypted_connection_is_shown_in_red() -> None:
    english = translator("en")
    said = [
        (line.text, line.colour) for line in status_lines(english, ScreenView(3, IdleView(), StatusLine(plain=True)))
    ]
    assert said == [("offline: if this lasts, tell the desk · NOT ENCRYPTED", drawing.DANGER)]
    assert "NOT" not in next(status_lines(english, ScreenView(3, IdleView(), StatusLine()))).text


def test_the_foot_says_whether_the_result_is_at_the_centre_only_in_a_connected_hall() -> None:
    def foot(line: StatusLine, *, at_centre: bool | None = True) -> str:
        view = ScreenView(3, RecordedView(at_centre=at_centre), line)
        return next(status_lines(translator("en"), view)).text

    connected = StatusLine(up=True)
    assert [foot(connected, at_centre=one) for one in (None, False, True)] == [
        "connected",
        "connected · result not yet at the centre",
        "connected · result at the centre",
    ]
    assert "centre" not in foot(StatusLine()) + foot(StatusLine(up=True, scorer_silent=True))
