"""The arbiter's panel at a table: keys in, rulings out; a PIN is in no record and on no picture."""

import dataclasses
import errno
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.i18n import Translator
from broker.protocol import AT_THE_TABLE, SEATS, Fine, Left, LetIn, Paused, PinAnswer, PinGiven, Ruled, TimeAdded
from broker.protocol.arbiter_session import BY_PIN, GIVEN, PinPlace, nonce_of, scope_of
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


def test_an_arbiter_who_gives_the_pin_voids_a_play_with_a_reason(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a", *PIN, "enter")
    table.type("back")
    table.type("a", *PIN, "enter")
    assert table.program.state.arbiter == "arbiter at the table"
    table.type(str(possible_acts(table.program.state).index("void") + 1), "4", "y")
    assert (table.phase, table.program.state.ruled) == (Phase.RECORDED, "void")
    facts = [one.fact for one in table.journal.unsent() if isinstance(one.fact, Ruled)]
    assert [fact.reason for fact in facts] == [REASONS[3]]


def test_a_pin_is_neither_in_the_journal_nor_in_what_is_shown(table: Judged, tmp_path: Path) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a", *PIN)
    assert table.program.view().panel == ArbiterPanel("pin", digits="****")
    table.type("enter")
    table.type("back", "a", "1", "2", "3", "4", "enter")
    kinds = [type(one) for one in table.happened()]
    assert (kinds.count(ArbiterAdmitted), kinds.count(PinRefused)) == (1, 1)
    stored = b"".join(one.read_bytes() for one in tmp_path.glob("table.sqlite*"))
    assert re.findall(rf"(?<![0-9a-f])(?:{PIN}|1234)(?![0-9a-f])".encode(), stored) == []  # nowhere but in random ids


def test_the_fourth_try_waits_even_if_it_is_right(table: Judged) -> None:
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


def test_from_the_third_wrong_pin_on_the_desk_is_told_until_an_arbiter_is_let_in(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a")
    told = []
    for _ in range(3):
        table.type(*"0000", "enter")
        told.append(table.program._server.state_message().health)
    assert told == [{}, {}, {"pin": "pin_guessed"}]
    table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
    assert (table.program._server.state_message().health, table.program._server.state_message().arbiter) == ({}, "Anne")


def test_the_desk_is_told_who_is_let_in_and_what_time_was_added_at_the_table(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    assert (table.program._server.state_message().arbiter, table.program._server.state_message().extra_min) == (None, 0)
    table.type("a", *PIN, "enter")
    table.type(str(possible_acts(table.program.state).index("extra_time") + 1), "1", "5", "enter", "6")
    assert (table.program._server.state_message().arbiter, table.program._server.state_message().extra_min) == ("", 15)


def test_an_arbiter_who_touches_nothing_for_two_minutes_has_gone(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a", *PIN, "enter")
    table.program.step(timeout=0)
    table.pass_time(119 * S)
    assert table.program.state.arbiter is not None
    table.pass_time(1 * S)
    assert table.program.view().panel is None
    assert table.program.state.arbiter is None


def test_an_arbiter_who_is_let_in_finds_a_hu_false_on_the_panel(table: Judged) -> None:
    table.come_to(Phase.DECLARED)
    table.type("a", *PIN, "enter")
    table.type(str(possible_acts(table.program.state).index("false_hu") + 1), "w", "enter", "4", "1")
    session = table.program.state.arbiter_session
    fine = Fine(imp=4, reason="the hand was not valid", author=AT_THE_TABLE, session=session)
    assert (table.program.state.fines, session is not None) == ({"west": fine}, True)
    assert table.phase is Phase.PLAYING


def test_who_finds_a_hu_false_on_the_form_of_results_gives_the_pin_the_fine_and_the_reason(table: Judged) -> None:
    table.come_to(Phase.DECLARED)
    table.type("1", "x", *"0000", "enter")
    assert table.program.view().panel == ArbiterPanel("pin", act="false_hu", seats=("west",))
    table.type(*PIN, "enter", "8")
    assert table.program.state.fines == {}
    table.type("2")
    fine = Fine(imp=8, reason=REASONS[1], author=AT_THE_TABLE, session=table.program.state.arbiter_session)
    assert table.program.state.fines == {"west": fine}
    assert table.phase is Phase.PLAYING


def test_whose_hu_is_doubted_is_known_after_a_power_cut_and_the_pin_asked_for_again(tmp_path: Path) -> None:
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


def test_an_arbiter_whose_doubt_is_over_by_the_time_of_the_pin_is_asked_what_to_rule(table: Judged) -> None:
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


def test_a_pin_that_nobody_goes_on_typing_hides_the_screen_for_two_minutes_and_no_longer(table: Judged) -> None:
    table.come_to(Phase.ACCEPTING)
    table.type("a", PIN[0])
    table.pass_time(119 * S)
    table.type(PIN[1])
    table.pass_time(119 * S)
    assert table.program.view().panel is not None
    table.pass_time(2 * S)
    assert table.program.view().panel is None


def test_what_was_said_of_a_wrong_pin_goes_with_the_panel_that_nobody_answers(table: Judged) -> None:
    table.come_to(Phase.RECORDED)
    table.type("a", *"0000", "enter")
    table.pass_time(2 * S)
    assert table.program.view().problem is not None
    table.pass_time(121 * S)
    assert (table.program.view().panel, table.program.view().problem) == (None, None)


def test_an_arbiter_who_has_just_opened_the_panel_has_not_gone(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
    table.pass_time(119 * S)
    table.type("a")
    table.pass_time(2 * S)
    assert table.program.view().panel is not None
    table.pass_time(119 * S)
    assert table.program.view().panel is None


@pytest.mark.parametrize("admitted", [False, True])
def test_a_panel_that_is_open_as_the_day_ends_takes_no_key_from_what_is_seen_then(
    table: Judged, *, admitted: bool
) -> None:
    table.come_to(Phase.RECORDED, plan(play(1)))
    if admitted:
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
    table.type("a")
    table.program._apply(NextDealCalled(at=table.time.wait()))
    table.program.step(timeout=0)
    assert table.program.view().panel is None
    table.type("t")
    assert table.program.state.self_test == "running"


def test_without_a_pin_arbiters_are_let_in_by_the_desk_alone(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        table.type("a")
        assert table.program.view().panel is None
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
        table.type("a")
        assert table.program.view().panel is not None


def test_the_panel_opens_at_a_riichi_table_and_knows_no_fines(table: Judged) -> None:
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
    assert possible_acts(sitting.table) == (*test, "extra_time", "pause")


def test_no_false_hu_is_offered_where_a_drawn_hand_asks_who_is_tenpai() -> None:
    sitting = AloneSitting()
    sitting.begin()
    sitting.draw()
    assert sitting.table.hand.asks_tenpai
    assert "false_hu" not in possible_acts(sitting.table)


def at_riichi(table: Judged) -> None:
    """Sit down to a riichi session."""
    table.program._apply(Assigned(at=table.time.wait(), assignment=session_plan()))
    table.press(*SEATS)


@pytest.mark.parametrize("phase", Phase)
def test_what_can_be_ruled_in_an_open_claim_window_is_what_can_be_in_the_play(phase: Phase) -> None:
    acts = possible_acts(sitting_in(phase).table)
    assert len(acts) <= 10
    if phase is Phase.CLAIMING:
        assert acts == possible_acts(sitting_in(Phase.PLAYING).table)


def test_extra_time_is_offered_only_while_there_is_a_play_that_gets_it() -> None:
    """As the desk's order is refused: between two plays it would be reported and then lost."""
    none = [phase for phase in Phase if "extra_time" not in possible_acts(sitting_in(phase).table)]
    assert none == [Phase.WAITING, Phase.RECORDED, Phase.FINISHED]


def typed(panel: ArbiterPanel, *keys: str) -> PanelResult:
    found: PanelResult = panel
    for key in keys:
        assert isinstance(found, ArbiterPanel)
        found = press_panel_key(found, key)
    return found


ACTS = ArbiterPanel("act", ("extra_time", "swap", "declared", "adjust", "pause"), fines=(4, 8))


def test_after_the_last_play_no_panel_opens_that_nobody_would_see(table: Judged) -> None:
    table.come_to(Phase.RECORDED, plan(play(1)))
    table.type("c", "enter", "a", "1")
    assert (table.phase, table.program.state.calling, table.program._keyboard.panel) == (Phase.FINISHED, True, None)
    assert "a" not in {target.key for target in TableScreen(Translator("en"), (800, 480)).targets(table.program.view())}


def test_what_is_chosen_for_one_play_is_never_ruled_on_another_that_a_new_plan_brings() -> None:
    at = Keyed(Sitting(play(1), play(2)))
    at.sitting.admit()
    void = str(possible_acts(at.sitting.table).index("void") + 1)
    at.type("a", void, "4")
    at.sitting.take(Assigned(at=at.sitting.wait(), assignment=plan(play(2))))  # the desk has taken the first play away
    at.type("y")
    assert (at.sitting.play.round, at.sitting.table.phase) == (2, Phase.RESTORING)
    assert at.keys.panel == opened_panel(at.sitting.table)


def test_two_players_who_are_to_change_seats_are_chosen_anew_where_a_new_plan_seats_others() -> None:
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
def test_what_throws_a_play_away_is_asked_about_once_more(act: Act) -> None:
    asked = typed(ArbiterPanel("act", (act,)), *("1", "enter", "4") if act == "adjust" else ("1", "4"))
    assert isinstance(asked, ArbiterPanel)
    assert (asked.ask, asked.reason) == ("sure", REASONS[3])
    assert press_panel_key(asked, "4") == press_panel_key(asked, "enter") == asked
    assert press_panel_key(asked, "y") == Decided(act, reason=REASONS[3])
    back = press_panel_key(asked, "back")
    assert isinstance(back, ArbiterPanel)
    assert (back.ask, back.act, back.reason) == ("act", None, "")


@pytest.mark.parametrize("phase", Phase)
def test_what_ends_a_play_does_not_stand_beside_what_leaves_the_panel(phase: Phase) -> None:
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
def test_what_is_not_in_the_catalogue_cannot_be_chosen(keys: str) -> None:
    *before, last = keys.split()
    reached = typed(OFFENCES, *before)
    assert isinstance(reached, ArbiterPanel)
    assert press_panel_key(reached, last) == reached


@pytest.mark.parametrize("keys", ["9", "x", "2 w enter", "2 w e s", "1 enter", "3 enter 9", "3 enter 0"])
def test_keys_that_mean_nothing_change_nothing(keys: str) -> None:
    *before, last = keys.split()
    reached = typed(ACTS, *before)
    assert isinstance(reached, ArbiterPanel)
    assert press_panel_key(reached, last) == reached


def test_every_reason_has_a_sentence() -> None:
    assert [*REASON] == [str(at) for at in range(1, len(REASONS) + 1)]


# ---- who judges a PIN ---------------------------------------------------------------------------


def test_a_pin_goes_to_the_scorer_sealed_and_the_screen_says_that_it_is_checked(table: Judged) -> None:
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


def test_who_does_not_want_to_wait_leaves_and_a_late_answer_lets_nobody_in(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.link.answers = False
    table.type("a", *PIN, "enter", "back")
    (given,) = [one for one in table.link.said if isinstance(one, PinGiven)]
    table.link.say(table.link.judge.judge(given))
    table.pass_time(3 * S)
    assert (table.program.state.arbiter, table.program.view().panel) == (None, None)


@pytest.mark.parametrize("away", ["late", "cut"])
def test_an_arbiter_whom_no_scorer_answers_goes_on_and_the_screen_says_so(table: Judged, away: str) -> None:
    table.come_to(Phase.PLAYING)
    table.link.answers = False
    if away == "cut":
        table.link.cut()
        table.program.step(timeout=0)
    table.type("a", *PIN, "enter")
    if away == "late":
        table.pass_time(2 * S)
    state = table.program.state
    assert (scope_of(state.arbiter_session or ""), table.program.view().unproven) == (GIVEN, True)
    (let_in,) = [one.fact for one in table.journal.unsent() if isinstance(one.fact, LetIn)]
    place = PinPlace(EVENT, TABLE, table.journal.device, nonce_of(let_in.session or ""))
    assert table.link.judge.access.pin_key.open(let_in.sealed or "", place) == PIN


def answered(table: Judged, *, right: bool) -> None:
    """Let the scorer say what it has found of the PIN by which somebody rules."""
    session = table.program.state.arbiter_session or ""
    code = None if right else "pin_wrong"
    table.link.say(PinAnswer(asked=nonce_of(session), session=session if right else None, code=code))
    table.program.step(timeout=0)


def test_an_arbiter_whose_pin_proves_wrong_later_is_let_in_no_more(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.link.cut()
    table.program.step(timeout=0)
    table.type("a", *"9999", "enter")
    answered(table, right=False)
    assert (table.program.state.arbiter, table.program.state.pins_wrong) == (None, 1)
    assert (table.program.view().panel, table.program.view().problem) == (None, None)


def test_an_arbiter_whose_pin_proves_right_later_goes_on(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.link.cut()
    table.program.step(timeout=0)
    table.type("a", *PIN, "enter")
    answered(table, right=True)
    assert (table.program.state.arbiter, table.program.view().unproven) == (AT_THE_TABLE, False)


def test_all_that_an_arbiter_rules_names_the_session(table: Judged) -> None:
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


def test_without_a_pin_at_the_desk_only_the_desk_lets_in(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        table.type("a")
        assert (table.program.view().panel, table.program._keyboard.problem) == (None, "arbiter_needed")


def test_what_the_scorer_has_said_of_the_pin_is_known_after_a_restart_and_nothing_of_the_pin_is_kept(
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


def test_a_hash_that_an_older_program_has_left_on_the_card_is_removed(tmp_path: Path) -> None:
    old = f'{{"id":"pin-00000001","event":"{EVENT}","table":{TABLE},"set_at":1,"hash":"{HASHED}"}}'
    (tmp_path / PIN_STATE_FILE).write_text(old, encoding="ascii")
    (tmp_path / "arbiter-pin").write_text(f"{HASHED}\n", encoding="ascii")
    with standing(tmp_path):
        assert [(tmp_path / name).exists() for name in (PIN_STATE_FILE, "arbiter-pin")] == [False, False]


def test_the_pin_of_an_event_whose_folder_a_table_shares_stays(tmp_path: Path) -> None:
    (tmp_path / "event.toml").touch()
    (tmp_path / "arbiter-pin").write_text(f"{HASHED}\n", encoding="ascii")
    with standing(tmp_path):
        assert (tmp_path / "arbiter-pin").exists()


def test_an_arbiter_whom_an_older_program_let_in_is_let_in_anew(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by=AT_THE_TABLE))
    with standing(tmp_path) as again:
        assert again.program.state.arbiter is None


def test_an_absent_hash_is_nothing_to_tell_of_where_no_file_can_be_removed(
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
