"""The arbiter's panel at a table: keys in, rulings out; a PIN is in no record and on no picture."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.protocol import SEATS, ArbiterPin, Fine, Ruled, encode, topics
from broker.protocol.arbiter_pin import hash_pin
from broker.protocol.link import Incoming
from kiosk.config import DESK_PIN_FILE, KioskSettings, PinFile, write_pin
from kiosk.errors import BadConfiguration
from kiosk.input import (
    REASONS,
    ArbiterPanel,
    Decided,
    PanelClosed,
    PanelResult,
    opened_panel,
    possible_acts,
    press_panel_key,
)
from kiosk.screens.texts import REASON
from kiosk.table import AT_THE_TABLE, ArbiterAdmitted, ArbiterLeft, Assigned, DeclarationsCorrected, Phase, PinRefused
from tests.kiosk.riichi_tables import riichi_in, session_plan
from tests.kiosk.standing import Standing, standing
from tests.kiosk.tables import EVENT, TABLE, S, sitting_in

PIN = "4711"


@pytest.fixture(scope="module")
def hashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pin") / "arbiter-pin"
    write_pin(path, PIN)
    return path


@pytest.fixture
def pin(tmp_path: Path, hashed: Path) -> Path:
    path = tmp_path / "arbiter-pin"
    path.write_bytes(hashed.read_bytes())
    return path


@pytest.fixture
def table(tmp_path: Path, pin: Path) -> Iterator[Standing]:  # noqa: ARG001 - beside the table's journal
    with standing(tmp_path) as made:
        yield made


def test_an_arbiter_who_gives_the_pin_voids_a_play_with_a_reason(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a", *PIN, "enter")
    table.type("back")
    table.type("a", *PIN, "enter")
    assert table.program.state.arbiter == "arbiter at the table"
    table.type(str(possible_acts(table.program.state).index("void") + 1), "4")
    assert (table.phase, table.program.state.ruled) == (Phase.RECORDED, "void")
    facts = [one.fact for one in table.journal.unsent() if isinstance(one.fact, Ruled)]
    assert [fact.reason for fact in facts] == [REASONS[3]]


def test_a_pin_is_neither_in_the_journal_nor_in_what_is_shown(table: Standing, tmp_path: Path) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a", *PIN)
    assert table.program.view().panel == ArbiterPanel("pin", digits="****")
    table.type("enter")
    table.type("back", "a", "1", "2", "3", "4", "enter")
    kinds = [type(one) for one in table.happened()]
    assert (kinds.count(ArbiterAdmitted), kinds.count(PinRefused)) == (1, 1)
    stored = b"".join(one.read_bytes() for one in tmp_path.glob("table.sqlite*"))
    assert (PIN.encode() in stored, b"1234" in stored) == (False, False)


def test_the_fourth_try_waits_even_if_it_is_right(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a")
    for _ in range(3):
        table.type("0", "0", "0", "0", "enter")
        assert table.program.view().problem == "pin_wrong"
    table.type(*PIN, "enter")
    assert (table.program.view().problem, table.program.state.arbiter) == ("pin_locked", None)
    table.time.wait(60 * S)
    table.type(*PIN, "enter")
    assert table.program.state.arbiter is not None


def test_from_the_third_wrong_pin_on_the_desk_is_told_until_an_arbiter_is_let_in(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a")
    told = []
    for _ in range(3):
        table.type(*"0000", "enter")
        told.append(table.program._server.state_message().health)
    assert told == [{}, {}, {"pin": "pin_guessed"}]
    table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
    assert (table.program._server.state_message().health, table.program._server.state_message().arbiter) == ({}, "Anne")


def test_the_desk_is_told_who_is_let_in_and_what_time_was_added_at_the_table(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    assert (table.program._server.state_message().arbiter, table.program._server.state_message().extra_min) == (None, 0)
    table.type("a", *PIN, "enter")
    table.type(str(possible_acts(table.program.state).index("extra_time") + 1), "1", "5", "enter", "6")
    assert (table.program._server.state_message().arbiter, table.program._server.state_message().extra_min) == ("", 15)


def test_an_arbiter_who_touches_nothing_for_two_minutes_has_gone(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a", *PIN, "enter")
    table.program.step(timeout=0)
    table.pass_time(119 * S)
    assert table.program.state.arbiter is not None
    table.pass_time(1 * S)
    assert table.program.view().panel is None
    assert table.program.state.arbiter is None


def test_an_arbiter_who_is_let_in_finds_a_hu_false_on_the_panel(table: Standing) -> None:
    table.come_to(Phase.DECLARED)
    table.type("a", *PIN, "enter")
    table.type(str(possible_acts(table.program.state).index("false_hu") + 1), "w", "enter", "4", "1")
    assert table.program.state.fines == {"west": Fine(imp=4, reason="the hand was not valid", author=AT_THE_TABLE)}
    assert table.phase is Phase.PLAYING


def test_who_finds_a_hu_false_on_the_form_of_results_gives_the_pin_the_fine_and_the_reason(table: Standing) -> None:
    table.come_to(Phase.DECLARED)
    table.type("1", "x", *"0000", "enter")
    assert table.program.view().panel == ArbiterPanel("pin", act="false_hu", seats=("west",))
    table.type(*PIN, "enter", "8")
    assert table.program.state.fines == {}
    table.type("2")
    assert table.program.state.fines == {"west": Fine(imp=8, reason=REASONS[1], author=AT_THE_TABLE)}
    assert table.phase is Phase.PLAYING


@pytest.mark.usefixtures("pin")
def test_whose_hu_is_doubted_is_known_after_a_power_cut_and_the_pin_asked_for_again(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.DECLARED)
        table.type("x", *PIN[:2])
    with standing(tmp_path) as back:
        back.program.step(timeout=0)
        assert back.program.view().panel == ArbiterPanel("pin", act="false_hu", seats=("west",))
        back.type(*PIN, "enter")
        panel = back.program.view().panel
        assert panel is not None
        assert (panel.ask, panel.seats) == ("fine", ("west",))


def test_an_arbiter_whose_doubt_is_over_by_the_time_of_the_pin_is_asked_what_to_rule(table: Standing) -> None:
    table.come_to(Phase.DECLARED)
    table.type("x")
    table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
    table.program._apply(DeclarationsCorrected(at=table.time.wait(), seats=("north",), reason="why"))
    table.program._apply(ArbiterLeft(at=table.time.wait()))
    table.type(*PIN, "enter")
    assert table.program.view().panel == opened_panel(table.program.state)


def test_without_a_pin_nobody_fines_another_on_the_form_of_results(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.DECLARED)
        table.type("x", "8", "1")
        assert (table.program.state.fines, table.phase) == ({}, Phase.DECLARED)
        table.type("x")
        assert table.program.view().problem == "arbiter_needed"
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
        table.type("x", "8", "1")
        assert table.program.state.fines == {"west": Fine(imp=8, reason=REASONS[0], author="Anne")}


def test_without_a_pin_arbiters_are_let_in_by_the_desk_alone(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        table.type("a")
        assert table.program.view().panel is None
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
        table.type("a")
        assert table.program.view().panel is not None


def test_the_panel_opens_at_a_riichi_table_and_knows_no_fines(table: Standing) -> None:
    at_riichi(table)
    table.type("a", *PIN, "enter")
    panel = table.program.view().panel
    assert panel is not None
    assert (panel.ask, panel.fines) == ("act", ())
    table.type("back", "a")
    assert table.phase is Phase.PLAYING


@pytest.mark.parametrize("phase", [Phase.CONFIRMING, Phase.PLAYING, Phase.DECLARED, Phase.ACCEPTING, Phase.RECORDED])
def test_at_a_riichi_table_only_time_is_ruled_in_the_panel(phase: Phase) -> None:
    sitting = riichi_in(phase)
    test = () if phase is Phase.PLAYING else ("self_test",)
    assert possible_acts(sitting.table) == ("pause", "extra_time", *test)


def at_riichi(table: Standing) -> None:
    """Sit down to a riichi session."""
    table.program._apply(Assigned(at=table.time.wait(), assignment=session_plan()))
    table.press(*SEATS)


@pytest.mark.parametrize("phase", Phase)
def test_what_can_be_ruled_in_an_open_claim_window_is_what_can_be_in_the_play(phase: Phase) -> None:
    acts = possible_acts(sitting_in(phase).table)
    assert len(acts) <= 10
    if phase is Phase.CLAIMING:
        assert acts == possible_acts(sitting_in(Phase.PLAYING).table)


def typed(panel: ArbiterPanel, *keys: str) -> PanelResult:
    found: PanelResult = panel
    for key in keys:
        assert isinstance(found, ArbiterPanel)
        found = press_panel_key(found, key)
    return found


ACTS = ArbiterPanel("act", ("extra_time", "swap", "declared", "adjust", "pause"), (4, 8))


@pytest.mark.parametrize(
    ("keys", "decided"),
    [
        ("5 3", Decided("pause", reason=REASONS[2])),
        ("1 0 1 5 enter 6", Decided("extra_time", amount=15, reason=REASONS[5])),
        ("1 9 9 enter 1", Decided("extra_time", amount=60, reason=REASONS[0])),
        ("2 w e enter 2", Decided("swap", ("east", "west"), reason=REASONS[1])),
        ("3 enter 8", Decided("declared", (), reason=REASONS[7])),
        ("4 s s n enter 6", Decided("adjust", ("north",), reason=REASONS[5])),
        ("2 back 5 3", Decided("pause", reason=REASONS[2])),
        ("back", PanelClosed()),
    ],
)
def test_keys_choose_a_ruling(keys: str, decided: PanelResult) -> None:
    assert typed(ACTS, *keys.split()) == decided


@pytest.mark.parametrize("keys", ["9", "x", "2 w enter", "2 w e s", "1 enter", "3 enter 9", "3 enter 0"])
def test_keys_that_mean_nothing_change_nothing(keys: str) -> None:
    *before, last = keys.split()
    reached = typed(ACTS, *before)
    assert isinstance(reached, ArbiterPanel)
    assert press_panel_key(reached, last) == reached


def test_every_reason_has_a_sentence() -> None:
    assert [*REASON] == [str(at) for at in range(1, len(REASONS) + 1)]


@pytest.mark.parametrize("pin", ["", "123", "1" * 13, "12a4", "１２３４"])
def test_what_is_no_pin_is_not_kept(pin: str, tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration):
        write_pin(tmp_path / "pin", pin)
    assert [*tmp_path.iterdir()] == []


def test_a_pins_hash_is_its_owners_alone_and_what_is_none_is_refused(hashed: Path, tmp_path: Path) -> None:
    assert hashed.stat().st_mode & 0o077 == 0
    assert (PinFile(hashed).right(PIN), PinFile(hashed).right("0000"), PinFile(tmp_path / "none").known) == (
        True,
        False,
        False,
    )
    (tmp_path / "plain").write_text(PIN, encoding="ascii")
    with pytest.raises(BadConfiguration):
        PinFile(tmp_path / "plain")


# ---- the PIN that the desk sets -----------------------------------------------------------------


def said(table: Standing, pin: str, at: int) -> str:
    """Let the desk say what the PIN is; return what tells which one the table has."""
    message = ArbiterPin(id=f"pin-{at:08}", event=EVENT, table=TABLE, set_at=at, hash=hash_pin(pin))
    table.program._message(Incoming(topics.PIN.at(EVENT, table=TABLE), encode(message), lambda: None))
    assert table.program._server.state_message().pin is not None
    return table.program._server.state_message().pin or ""


def gets_in(table: Standing, pin: str) -> bool:
    """Return whether a PIN lets an arbiter in, and let that one go again."""
    table.type("a", *pin, "enter")
    there = table.program.state.arbiter is not None
    table.type(*["back"] * (len(pin) + 1))
    return there


def test_a_pin_that_the_desk_sets_holds_at_once_and_after_a_restart_and_no_older_one_takes_its_place(
    tmp_path: Path, table: Standing
) -> None:
    table.come_to(Phase.PLAYING)
    before = table.program._server.state_message().pin
    marks = [said(table, pin, at) for pin, at in (("2468", 2000), ("1357", 1000), ("9999", 2000))]
    assert (before != marks[0], marks) == (True, marks[:1] * 3)
    assert [gets_in(table, pin) for pin in ("2468", PIN)] == [True, False]
    again = KioskSettings(tmp_path / "table.toml").pin()
    assert (again.mark, again.right("2468")) == (marks[0], True)
    assert (tmp_path / DESK_PIN_FILE).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"hash":"4711"}'])
def test_what_the_desk_told_and_cannot_be_read_or_is_of_another_event_leaves_the_tables_own_pin(
    tmp_path: Path, pin: Path, content: bytes
) -> None:
    other = ArbiterPin(id="pin-00000001", event="other", table=TABLE, set_at=1, hash=hash_pin("2468"))
    for kept in (content, encode(other)):
        (tmp_path / DESK_PIN_FILE).write_bytes(kept)
        assert PinFile(pin, tmp_path / DESK_PIN_FILE, EVENT).right(PIN)


def test_a_pin_that_cannot_be_written_holds_until_the_program_ends(tmp_path: Path, pin: Path) -> None:
    told = PinFile(pin, tmp_path / "no-such-folder" / DESK_PIN_FILE, EVENT)
    told.take(ArbiterPin(id="pin-00000001", event=EVENT, table=TABLE, set_at=1, hash=hash_pin("2468")))
    assert (told.right("2468"), told.right(PIN)) == (True, False)
