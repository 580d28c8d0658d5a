"""The arbiter's panel at a table: keys in, rulings out; the PIN is in no record and no picture."""

import dataclasses
import errno
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.i18n import Translator
from broker.protocol import AT_THE_TABLE, SEATS, Fine, Left, LetIn, Paused, PinAnswer, PinGiven, Ruled, TimeAdded
from broker.protocol.arbiter_session import BY_PIN, UNPROVEN_SCOPE, PinPlace, nonce_of, scope_of
from kiosk.arbiter_pin import PIN_STATE_FILE, remove_hash
from kiosk.input import REASONS, ArbiterPanel
from kiosk.input.panel import Act, Decided, PanelClosed, PanelResult, opened_panel, possible_acts, press_panel_key
from kiosk.screens import TableScreen
from kiosk.screens.texts import REASON
from kiosk.table import Phase
from kiosk.table.events import (
    ArbiterAdmitted,
    ArbiterLeft,
    Assigned,
    DeclarationsCorrected,
    NextDealCalled,
    PinRefused,
)
from tests.kiosk.judging import Judged, judged
from tests.kiosk.keyed import Keyed
from tests.kiosk.riichi_tables import AloneSitting, riichi_in, session_plan
from tests.kiosk.standing import standing
from tests.kiosk.tables import EVENT, TABLE, S, Sitting, plan, play, sitting_in
from tests.pins import HASHED, PIN


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Judged]:
    with judged(tmp_path) as made:
        yield made


def test_an_arbiter_with_the_pin_can_void_a_play_with_a_reason(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a", *PIN, "enter")
    table.type("back")
    table.type("a", *PIN, "enter")
    assert table.program.state.arbiter == "arbiter at the table"
    table.type(str(possible_acts(table.program.state).index("void") + 1), "4", "y")
    assert (table.phase, table.program.state.ruled) == (Phase.RECORDED, "void")
    facts = [one.fact for one in table.journal.unsent() if isinstance(one.fact, Ruled)]
    assert [fact.reason for fact in facts] == [REASONS[3]]


def test_the_pin_is_neither_in_the_journal_nor_on_the_screen(table: Judged, tmp_path: Path) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a", *PIN)
    assert table.program.view().panel == ArbiterPanel("pin", digits="****")
    table.type("enter")
    table.type("back", "a", "1", "2", "3", "4", "enter")
    kinds = [type(one) for one in table.happened()]
    assert (kinds.count(ArbiterAdmitted), kinds.count(PinRefused)) == (1, 1)
    stored = b"".join(one.read_bytes() for one in tmp_path.glob("table.sqlite*"))
    assert re.findall(rf"(?<![0-9a-f])(?:{PIN}|1234)(?![0-9a-f])".encode(), stored) == []  # only within random ids


def test_the_fourth_try_has_to_wait_even_if_the_pin_is_right(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a")
    for _ in range(3):
        table.type("0", "0", "0", "0", "enter")
        assert table.program.view().problem == "pin_wrong"
    table.type(*PIN, "enter")
    assert (table.program.view().problem, table.program.state.arbiter) == ("pin_locked", None)
    assert table.program.view().pin_wait_s == 60
    table.time.wait(59 * S)
    assert table.program.view().pin_wait_s == 1
    table.time.wait(1 * S)
    assert table.program.view().pin_wait_s == 0
    table.type(*PIN, "enter")
    assert table.program.state.arbiter is not None


def test_from_the_third_wrong_pin_the_desk_is_alerted_until_an_arbiter_is_admitted(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a")
    told = []
    for _ in range(3):
        table.type(*"0000", "enter")
        told.append(table.program._server.state_message().health)
    assert told == [{}, {}, {"pin": "pin_guessed"}]
    table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
    assert (table.program._server.state_message().health, table.program._server.state_message().arbiter) == ({}, "Anne")


def test_admissions_and_added_time_are_reported_to_the_desk(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    assert (table.program._server.state_message().arbiter, table.program._server.state_message().extra_min) == (None, 0)
    table.type("a", *PIN, "enter")
    table.type(str(possible_acts(table.program.state).index("extra_time") + 1), "1", "5", "enter", "6")
    assert (table.program._server.state_message().arbiter, table.program._server.state_message().extra_min) == ("", 15)


def test_an_arbiter_who_is_idle_for_two_minutes_is_dismissed(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a", *PIN, "enter")
    table.program.step(timeout=0)
    table.pass_time(119 * S)
    assert table.program.state.arbiter is not None
    table.pass_time(1 * S)
    assert table.program.view().panel is None
    assert table.program.state.arbiter is None


def test_an_admitted_arbiter_can_rule_a_hu_false_on_the_panel(table: Judged) -> None:
    table.come_to(Phase.DECLARED)
    table.type("a", *PIN, "enter")
    table.type(str(possible_acts(table.program.state).index("false_hu") + 1), "w", "enter", "4", "1")
    session = table.program.state.arbiter_session
    fine = Fine(imp=4, reason="the hand was not valid", author=AT_THE_TABLE, session=session)
    assert (table.program.state.fines, session is not None) == ({"west": fine}, True)
    assert table.phase is Phase.PLAYING


def test_a_false_hu_from_the_win_form_asks_for_pin_fine_and_reason(table: Judged) -> None:
    table.come_to(Phase.DECLARED)
    table.type("1", "x", *"0000", "enter")
    assert table.program.view().panel == ArbiterPanel("pin", act="false_hu", seats=("west",))
    table.type(*PIN, "enter", "8")
    assert table.program.state.fines == {}
    table.type("2")
    fine = Fine(imp=8, reason=REASONS[1], author=AT_THE_TABLE, session=table.program.state.arbiter_session)
    assert table.program.state.fines == {"west": fine}
    assert table.phase is Phase.PLAYING


def test_after_a_power_cut_the_seat_in_question_is_known_and_the_pin_asked_for_again(tmp_path: Path) -> None:
    with judged(tmp_path) as table:
        table.come_to(Phase.DECLARED)
        table.type("x", *PIN[:2])
    with judged(tmp_path) as back:
        back.program.step(timeout=0)
        assert back.program.view().panel == ArbiterPanel("pin", act="false_hu", seats=("west",))
        back.type(*PIN, "enter")
        panel = back.program.view().panel
        assert panel is not None
        assert (panel.ask, panel.seats) == ("fine", ("west",))


def test_if_the_declaration_is_gone_after_the_pin_the_panel_asks_for_a_ruling(table: Judged) -> None:
    table.come_to(Phase.DECLARED)
    table.type("x")
    table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
    table.program._apply(DeclarationsCorrected(at=table.time.wait(), seats=("north",), reason="why"))
    table.program._apply(ArbiterLeft(at=table.time.wait()))
    table.type(*PIN, "enter")
    assert table.program.view().panel == opened_panel(table.program.state)


def test_without_a_pin_nobody_can_fine_from_the_win_form(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.DECLARED)
        table.type("x", "8", "1")
        assert (table.program.state.fines, table.phase) == ({}, Phase.DECLARED)
        table.type("x")
        assert table.program.view().problem == "arbiter_needed"
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
        table.type("x", "8", "1")
        assert table.program.state.fines == {"west": Fine(imp=8, reason=REASONS[0], author="Anne")}


def test_an_unfinished_pin_hides_the_screen_for_two_minutes_at_most(table: Judged) -> None:
    table.come_to(Phase.ACCEPTING)
    table.type("a", PIN[0])
    table.pass_time(119 * S)
    table.type(PIN[1])
    table.pass_time(119 * S)
    assert table.program.view().panel is not None
    table.pass_time(2 * S)
    assert table.program.view().panel is None


def test_the_message_about_a_wrong_pin_disappears_with_an_abandoned_panel(table: Judged) -> None:
    table.come_to(Phase.RECORDED)
    table.type("a", *"0000", "enter")
    table.pass_time(2 * S)
    assert table.program.view().problem is not None
    table.pass_time(121 * S)
    assert (table.program.view().panel, table.program.view().problem) == (None, None)


def test_an_arbiter_who_has_just_opened_the_panel_is_not_idle(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
    table.pass_time(119 * S)
    table.type("a")
    table.pass_time(2 * S)
    assert table.program.view().panel is not None
    table.pass_time(119 * S)
    assert table.program.view().panel is None


@pytest.mark.parametrize("admitted", [False, True])
def test_a_panel_left_open_at_the_end_of_the_day_takes_no_keys(table: Judged, *, admitted: bool) -> None:
    table.come_to(Phase.RECORDED, plan(play(1)))
    if admitted:
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
    table.type("a")
    table.program._apply(NextDealCalled(at=table.time.wait()))
    table.program.step(timeout=0)
    assert table.program.view().panel is None
    table.type("t")
    assert table.program.state.self_test == "running"


def test_without_a_pin_only_the_desk_admits_arbiters(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        table.type("a")
        assert table.program.view().panel is None
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
        table.type("a")
        assert table.program.view().panel is not None


def test_the_panel_opens_at_a_riichi_table_without_fines(table: Judged) -> None:
    at_riichi(table)
    table.type("a", *PIN, "enter")
    panel = table.program.view().panel
    assert panel is not None
    assert (panel.ask, panel.fines) == ("act", ())
    table.type("back", "a")
    assert table.phase is Phase.PLAYING


@pytest.mark.parametrize("phase", [Phase.CONFIRMING, Phase.PLAYING, Phase.DECLARED, Phase.ACCEPTING, Phase.RECORDED])
def test_at_a_riichi_table_the_panel_offers_only_time(phase: Phase) -> None:
    sitting = riichi_in(phase)
    test = () if phase is Phase.PLAYING else ("self_test",)
    assert possible_acts(sitting.table) == (*test, "extra_time", "pause")


def test_no_false_hu_is_offered_while_a_drawn_hand_asks_for_tenpai() -> None:
    sitting = AloneSitting()
    sitting.begin()
    sitting.draw()
    assert sitting.table.hand.asks_tenpai
    assert "false_hu" not in possible_acts(sitting.table)


def at_riichi(table: Judged) -> None:
    """Start a riichi session."""
    table.program._apply(Assigned(at=table.time.wait(), assignment=session_plan()))
    table.press(*SEATS)


@pytest.mark.parametrize("phase", Phase)
def test_an_open_claim_window_offers_the_same_rulings_as_the_play(phase: Phase) -> None:
    acts = possible_acts(sitting_in(phase).table)
    assert len(acts) <= 10
    if phase is Phase.CLAIMING:
        assert acts == possible_acts(sitting_in(Phase.PLAYING).table)


def test_extra_time_is_offered_only_during_a_play_that_gets_it() -> None:
    """The desk's order is refused too: between two plays, the time would be reported and then lost."""
    none = [phase for phase in Phase if "extra_time" not in possible_acts(sitting_in(phase).table)]
    assert none == [Phase.WAITING, Phase.RECORDED, Phase.FINISHED]


def typed(panel: ArbiterPanel, *keys: str) -> PanelResult:
    found: PanelResult = panel
    for key in keys:
        assert isinstance(found, ArbiterPanel)
        found = press_panel_key(found, key)
    return found


ACTS = ArbiterPanel("act", ("extra_time", "swap", "declared", "adjust", "pause"), fines=(4, 8))


def test_after_the_last_play_no_invisible_panel_opens(table: Judged) -> None:
    table.come_to(Phase.RECORDED, plan(play(1)))
    table.type("c", "enter", "a", "1")
    assert (table.phase, table.program.state.calling, table.program._keyboard.panel) == (Phase.FINISHED, True, None)
    assert "a" not in {target.key for target in TableScreen(Translator("en"), (800, 480)).targets(table.program.view())}


def test_choices_for_one_play_are_not_ruled_on_another_from_a_new_plan() -> None:
    at = Keyed(Sitting(play(1), play(2)))
    at.sitting.admit()
    void = str(possible_acts(at.sitting.table).index("void") + 1)
    at.type("a", void, "4")
    at.sitting.take(Assigned(at=at.sitting.wait(), assignment=plan(play(2))))  # the desk has removed the first play
    at.type("y")
    assert (at.sitting.play.round, at.sitting.table.phase) == (2, Phase.RESTORING)
    assert at.keys.panel == opened_panel(at.sitting.table)


def test_choices_for_a_seat_swap_are_dropped_if_a_new_plan_seats_others() -> None:
    at = Keyed(Sitting(play(1)))
    at.sitting.admit()
    at.type("a", str(possible_acts(at.sitting.table).index("swap") + 1), "e", "s", "enter")
    others = {seat: replace(player, id=f"q{player.id}") for seat, player in play(1).players.items()}
    at.sitting.take(Assigned(at=at.sitting.wait(), assignment=plan(replace(play(1), players=others))))
    assert at.sitting.table.players == others
    at.type("2")
    assert at.sitting.table.players == others


@pytest.mark.parametrize(
    ("keys", "decided"),
    [
        ("5 3", Decided("pause", reason=REASONS[2])),
        ("1 0 1 5 enter 6", Decided("extra_time", amount=15, reason=REASONS[5])),
        ("1 9 9 enter 1", Decided("extra_time", amount=60, reason=REASONS[0])),
        ("2 w e enter 2", Decided("swap", ("east", "west"), reason=REASONS[1])),
        ("3 enter 8", Decided("declared", (), reason=REASONS[7])),
        ("4 s s n enter 6 y", Decided("adjust", ("north",), reason=REASONS[5])),
        ("2 back 5 3", Decided("pause", reason=REASONS[2])),
        ("back", PanelClosed()),
    ],
)
def test_keys_choose_a_ruling(keys: str, decided: PanelResult) -> None:
    assert typed(ACTS, *keys.split()) == decided


@pytest.mark.parametrize("act", ["forward", "adjust", "void"])
def test_a_ruling_that_discards_a_play_is_confirmed_once_more(act: Act) -> None:
    asked = typed(ArbiterPanel("act", (act,)), *("1", "enter", "4") if act == "adjust" else ("1", "4"))
    assert isinstance(asked, ArbiterPanel)
    assert (asked.ask, asked.reason) == ("sure", REASONS[3])
    assert press_panel_key(asked, "4") == press_panel_key(asked, "enter") == asked
    assert press_panel_key(asked, "y") == Decided(act, reason=REASONS[3])
    back = press_panel_key(asked, "back")
    assert isinstance(back, ArbiterPanel)
    assert (back.ask, back.act, back.reason) == ("act", None, "")


@pytest.mark.parametrize("phase", Phase)
def test_rulings_that_end_a_play_are_not_next_to_the_button_that_leaves(phase: Phase) -> None:
    assert {"forward", "adjust", "void"}.isdisjoint(possible_acts(sitting_in(phase).table)[-2:])


OFFENCES = dataclasses.replace(opened_panel(sitting_in(Phase.PLAYING).table), acts=("infraction",))


@pytest.mark.parametrize(
    ("keys", "decided"),
    [
        ("1 w enter 6 3 1", Decided("infraction", ("west",), infraction="sound", measure="warning")),
        ("1 e w enter 6 3 2", Decided("infraction", ("east", "west"), 4, infraction="sound")),
        ("1 w enter 6 6 6 1 1", Decided("infraction", ("west",), infraction="wrong_tiles", measure="dead_hand")),
        ("1 w enter 6 6 4 3", Decided("infraction", ("west",), 16, infraction="conduct")),
    ],
)
def test_an_infraction_is_chosen_from_the_catalogue_with_one_of_its_penalties(keys: str, decided: Decided) -> None:
    assert typed(OFFENCES, *keys.split()) == decided


@pytest.mark.parametrize("keys", ["1 enter", "1 w enter 0", "1 w enter 6 6 5", "1 w enter 6 3 4", "1 w enter 6 3 0"])
def test_only_infractions_of_the_catalogue_can_be_chosen(keys: str) -> None:
    *before, last = keys.split()
    reached = typed(OFFENCES, *before)
    assert isinstance(reached, ArbiterPanel)
    assert press_panel_key(reached, last) == reached


@pytest.mark.parametrize("keys", ["9", "x", "2 w enter", "2 w e s", "1 enter", "3 enter 9", "3 enter 0"])
def test_keys_without_meaning_change_nothing(keys: str) -> None:
    *before, last = keys.split()
    reached = typed(ACTS, *before)
    assert isinstance(reached, ArbiterPanel)
    assert press_panel_key(reached, last) == reached


def test_every_reason_has_a_sentence() -> None:
    assert [*REASON] == [str(at) for at in range(1, len(REASONS) + 1)]


# ---- checking a PIN -----------------------------------------------------------------------------


def test_a_pin_goes_sealed_to_the_scorer_and_the_screen_shows_the_check(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.link.answers = False
    table.type("a", *PIN, "enter")
    assert table.program.view().panel == ArbiterPanel("checking")
    (given,) = [one for one in table.link.said if isinstance(one, PinGiven)]
    place = PinPlace(EVENT, TABLE, table.journal.device, given.session)
    assert table.link.judge.access.pin_key.open(given.sealed, place) == PIN
    table.link.say(table.link.judge.judge(given))
    table.program.step(timeout=0)
    state = table.program.state
    assert (state.arbiter, scope_of(state.arbiter_session or ""), table.program.view().unproven) == (
        AT_THE_TABLE,
        BY_PIN,
        False,
    )


def test_an_arbiter_who_leaves_is_not_admitted_by_a_late_answer(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.link.answers = False
    table.type("a", *PIN, "enter", "back")
    (given,) = [one for one in table.link.said if isinstance(one, PinGiven)]
    table.link.say(table.link.judge.judge(given))
    table.pass_time(3 * S)
    assert (table.program.state.arbiter, table.program.view().panel) == (None, None)


@pytest.mark.parametrize("away", ["late", "cut"])
def test_without_an_answer_the_arbiter_goes_on_and_the_screen_says_so(table: Judged, away: str) -> None:
    table.come_to(Phase.PLAYING)
    table.link.answers = False
    if away == "cut":
        table.link.cut()
        table.program.step(timeout=0)
    table.type("a", *PIN, "enter")
    if away == "late":
        table.pass_time(2 * S)
    state = table.program.state
    assert (scope_of(state.arbiter_session or ""), table.program.view().unproven) == (UNPROVEN_SCOPE, True)
    (let_in,) = [one.fact for one in table.journal.unsent() if isinstance(one.fact, LetIn)]
    place = PinPlace(EVENT, TABLE, table.journal.device, nonce_of(let_in.session or ""))
    assert table.link.judge.access.pin_key.open(let_in.sealed or "", place) == PIN


def answered(table: Judged, *, right: bool) -> None:
    """Let the scorer answer about the PIN of the arbiter at the table."""
    session = table.program.state.arbiter_session or ""
    code = None if right else "pin_wrong"
    table.link.say(PinAnswer(asked=nonce_of(session), session=session if right else None, code=code))
    table.program.step(timeout=0)


def test_an_arbiter_whose_pin_proves_wrong_is_dismissed(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.link.cut()
    table.program.step(timeout=0)
    table.type("a", *"9999", "enter")
    answered(table, right=False)
    assert (table.program.state.arbiter, table.program.state.pins_wrong) == (None, 1)
    assert (table.program.view().panel, table.program.view().problem) == (None, None)


def test_an_arbiter_whose_pin_proves_right_goes_on(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.link.cut()
    table.program.step(timeout=0)
    table.type("a", *PIN, "enter")
    answered(table, right=True)
    assert (table.program.state.arbiter, table.program.view().unproven) == (AT_THE_TABLE, False)


def test_all_rulings_name_the_arbiters_session(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a", *PIN, "enter")
    session = table.program.state.arbiter_session
    acts = possible_acts(table.program.state)
    table.type(str(acts.index("extra_time") + 1), "5", "enter", "6")
    table.type("a", str(acts.index("pause") + 1), "6", "a")
    table.type(str(possible_acts(table.program.state).index("void") + 1), "4", "y", "a", "back")
    facts = [one.fact for one in table.journal.unsent()]
    ruled = [one for one in facts if isinstance(one, LetIn | TimeAdded | Paused | Ruled | Left)]
    assert [type(one) for one in ruled] == [LetIn, TimeAdded, Paused, Ruled, Left]
    assert ({one.session for one in ruled}, session is None) == ({session}, False)


def test_if_the_desk_has_no_pin_only_the_desk_admits_arbiters(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        table.type("a")
        assert (table.program.view().panel, table.program._keyboard.problem) == (None, "arbiter_needed")


def test_after_a_restart_the_pin_state_is_known_and_nothing_of_the_pin_is_stored(
    tmp_path: Path,
) -> None:
    with judged(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        table.type("a", *PIN, "enter")
        mark = table.program._server.state_message().pin
    with standing(tmp_path) as again:
        assert (again.program._server.state_message().pin, mark) == ("0" * 16, "0" * 16)
    kept = b"".join(one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
    assert (b"argon2" in kept, b"session" in (tmp_path / PIN_STATE_FILE).read_bytes()) == (False, False)


def test_a_pin_hash_left_by_an_older_program_is_removed(tmp_path: Path) -> None:
    old = f'{{"id":"pin-00000001","event":"{EVENT}","table":{TABLE},"set_at":1,"hash":"{HASHED}"}}'
    (tmp_path / PIN_STATE_FILE).write_text(old, encoding="ascii")
    (tmp_path / "arbiter-pin").write_text(f"{HASHED}\n", encoding="ascii")
    with standing(tmp_path):
        assert [(tmp_path / name).exists() for name in (PIN_STATE_FILE, "arbiter-pin")] == [False, False]


def test_the_pin_hash_in_a_shared_event_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "event.toml").touch()
    (tmp_path / "arbiter-pin").write_text(f"{HASHED}\n", encoding="ascii")
    with standing(tmp_path):
        assert (tmp_path / "arbiter-pin").exists()


def test_an_arbiter_admitted_by_an_older_program_must_be_admitted_again(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by=AT_THE_TABLE))
    with standing(tmp_path) as again:
        assert again.program.state.arbiter is None


def test_an_absent_hash_is_not_reported_where_no_file_can_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def read_only(self: Path) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "unlink", read_only)
    remove_hash(tmp_path / "arbiter-pin")
    assert caplog.messages == []
    (tmp_path / "arbiter-pin").touch()
    remove_hash(tmp_path / "arbiter-pin")
    assert len(caplog.messages) == 1
