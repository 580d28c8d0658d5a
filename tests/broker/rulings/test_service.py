"""Rulings from the desk are stored before they are published, once each, and refused if drafted too early."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from broker.errors import StoreBroken
from broker.protocol import (
    Adjusted,
    AnyDecision,
    Award,
    CheckedIn,
    Deadline,
    DealPlayed,
    FineRuled,
    Fouled,
    LogMessage,
    Overridden,
    Refused,
    Reopen,
    Ruled,
    Ruling,
    SeatsPlayed,
    Undo,
    Void,
    decision_kind,
)
from broker.rules import Outcome
from broker.rulings import RulingAuthor, RulingDraft
from broker.scorer import open_stored_event
from broker.store import STORE, SqliteJournal, copy_journal
from tests.broker.rulings.ruled import HEAD, TABLE, contents, correct, draft
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.hall import NOW, Hall, make_hall, open_journal
from tests.broker.scorer.small import OUTCOMES, event, log, result, steps, whole_event, whole_log

PLAY = (1, 2)
HERE = event().bookings[PLAY]


@pytest.fixture
def played(hall: Hall) -> Hall:
    """Return a hall after the whole event was played."""
    hall.hear(*whole_event())
    hall.ear.forget()
    return hall


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """Return a hall after the whole event, shared by tests that rule nothing."""
    folder = tmp_path_factory.mktemp("untouched")
    with open_journal(folder) as journal:
        hall = make_hall(folder, journal)
        hall.hear(*whole_event())
        yield hall


def give(hall: Hall, one: RulingDraft, author: RulingAuthor = HEAD) -> Any:  # noqa: ANN401 - an entry
    """Issue a ruling as the scorer's thread does."""
    return hall.scorer.rulings.give(one, author)


def refusal(hall: Hall, one: RulingDraft, author: RulingAuthor = HEAD) -> str:
    """Return the code with which both preview and ruling are refused, without anything being stored."""
    height = hall.journal.height
    with pytest.raises(Refused) as previewed:
        hall.scorer.rulings.effects(one, author)
    with pytest.raises(Refused) as given:
        give(hall, one, author)
    assert (previewed.value.code, hall.journal.height) == (given.value.code, height)
    return given.value.code


@pytest.mark.parametrize("wrong", [{"id": ""}, {"id": "two words"}, {"reason": ""}, {"reason": "x" * 501}])
def test_a_ruling_that_could_not_be_decoded_after_a_restart_is_refused(hall: Hall, wrong: dict[str, str]) -> None:
    one = draft(hall.scorer.state, CheckedIn(player="p01", present=True))
    assert refusal(hall, replace(one, **wrong)) == "malformed"


def test_a_ruling_is_published_after_it_is_stored_and_survives_a_restart(played: Hall) -> None:
    room = played.scorer.state
    one = draft(room, Void(), PLAY)
    entry = give(played, one)
    assert [type(message) for message in played.journal.messages()][-1] is Ruling
    assert played.ear.story[0] == "hm/cup/ruling"
    assert {f"hm/cup/traveller/{HERE.deal}", "hm/cup/standings", "hm/cup/assignment/1"} <= set(played.ear.story)
    assert (entry.author, entry.at, entry.kind) == (HEAD.name, NOW, "void")
    again = make_hall(played.folder, played.journal)
    assert contents(again.scorer.state) == contents(room)
    assert again.scorer.rulings.history() == played.scorer.rulings.history()


def test_the_standings_file_follows_rulings(played: Hall) -> None:
    player = HERE.players["east"]
    before = (played.folder / "standings.csv").read_text(encoding="utf-8")
    give(played, draft(played.scorer.state, FineRuled(takes={player: 99}, exception=True)))
    after = (played.folder / "standings.csv").read_text(encoding="utf-8")
    assert before != after
    assert next(line for line in after.splitlines() if f",{player}," in line).split(",")[4] == "99"


def test_the_second_of_two_simultaneous_rulings_on_a_play_is_a_conflict(played: Hall) -> None:
    room = played.scorer.state
    first, second = draft(room, Void(), PLAY), replace(draft(room, Void(), PLAY), id="ruling-other")
    give(played, first, TABLE)
    assert refusal(played, second) == "ruling_conflict"
    give(played, replace(second, after=first.id))


@pytest.mark.parametrize("reopened", [False, True])
def test_a_ruling_drafted_before_a_new_result_of_the_play_is_a_conflict(hall: Hall, *, reopened: bool) -> None:
    room, facts = hall.scorer.state, [*steps(1), *steps(1, 2)]
    if reopened:
        again = Ruled(round=2, deal=HERE.deal, author="T", role="table_arbiter", decision=Reopen(), reason="?")
        corrected = Overridden(round=2, deal=HERE.deal, guards=("declarations_corrected",), reason="it was south")
        facts += [again, corrected, result(*PLAY, OUTCOMES[2])]
    *before, last = log(1, *facts)
    hall.hear(*before)
    give(hall, draft(room, Award(gives={EAST: 3}), PLAY))
    one = draft(room, Void(), PLAY)
    hall.hear(last)
    assert refusal(hall, one) == "ruling_conflict"
    assert (
        make_hall(hall.folder, hall.journal).scorer.state.last_message_id(PLAY) == room.last_message_id(PLAY) == last.id
    )
    give(hall, draft(room, Void(), PLAY))


def test_a_ruling_sent_twice_is_given_once_and_its_id_cannot_be_reused(played: Hall) -> None:
    one = draft(played.scorer.state, FineRuled(takes={HERE.players["east"]: 4}))
    assert give(played, one) == give(played, one)
    assert len(played.scorer.rulings.history()) == 1
    with pytest.raises(Refused, match="id_reused"):
        give(played, one, TABLE)
    assert refusal(played, replace(one, id=whole_event()[0].id)) == "id_reused"


def test_nothing_is_ruled_if_the_store_fails(
    played: Hall, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, before = played.scorer.state, contents(played.scorer.state)
    monkeypatch.setattr(journal, "append", lambda *_: journal._connection.exec_driver_sql("INSERT INTO nowhere"))
    with pytest.raises(StoreBroken):
        give(played, draft(room, Void(), PLAY))
    assert (contents(room), played.scorer.rulings.history(), played.ear.story) == (before, (), [])


def test_a_copied_journal_contains_the_rulings(played: Hall, tmp_path: Path) -> None:
    give(played, draft(played.scorer.state, Void(), PLAY))
    folder = event_folder(tmp_path / "over", [])
    other = SqliteJournal(folder / STORE, "cup")
    assert copy_journal(played.journal, other) == played.journal.height
    other.close()
    assert contents(open_stored_event(folder).state) == contents(played.scorer.state)


def test_the_effects_list_exactly_the_players_who_move(played: Hall) -> None:
    room = played.scorer.state
    one = draft(room, correct(Outcome("self_drawn", {"north": 60}), room.results[PLAY].id), PLAY)
    before = {line.name: line for line in room.snapshot().ranking}
    effects = played.scorer.rulings.effects(one, HEAD)
    assert contents(room) == contents(make_hall(played.folder, played.journal).scorer.state)
    give(played, one)
    after = {line.name: line for line in room.snapshot().ranking}
    moved = {name for name in before if (before[name].imp, before[name].place) != (after[name].imp, after[name].place)}
    assert {line.name for line in effects.players} == moved
    for line in effects.players:
        assert (line.place_before, line.place_after) == (before[line.name].place, after[line.name].place)
        assert (line.imp_before, line.imp_after) == (before[line.name].imp, after[line.name].imp)
    assert {play.deal for play in effects.plays} == {HERE.deal}


@pytest.mark.parametrize(
    "decision", [Void(), Adjusted(gives=dict.fromkeys(HERE.players.values(), 0))], ids=decision_kind
)
def test_only_the_head_arbiter_overrides_a_head_arbiters_ruling_but_others_may_add_imps(
    played: Hall, decision: AnyDecision
) -> None:
    room = played.scorer.state
    give(played, draft(room, Void(), PLAY))
    assert refusal(played, draft(room, decision, PLAY), TABLE) == "head_arbiter_only"
    give(played, draft(room, FineRuled(takes={HERE.players["east"]: 4}), PLAY), TABLE)
    give(played, draft(room, Undo(ruling="ruling-0000")))
    give(played, draft(room, decision, PLAY), TABLE)


@pytest.mark.parametrize(
    "decision", [Award(gives={HERE.players["east"]: 99}), FineRuled(takes={HERE.players["east"]: 4})]
)
def test_only_the_head_arbiter_gives_or_takes_imps_of_no_play(played: Hall, decision: AnyDecision) -> None:
    assert refusal(played, draft(played.scorer.state, decision), TABLE) == "head_arbiter_only"


def test_after_the_correction_period_only_the_head_arbiter_rules(hall: Hall) -> None:
    hall.hear(*whole_event())
    room = hall.scorer.state
    give(hall, draft(room, Deadline(at=NOW)))
    give(hall, draft(room, Void(), PLAY), TABLE)
    hall.clock.read = lambda: NOW + 1
    assert refusal(hall, draft(room, Void(), (2, 2)), TABLE) == "corrections_closed"
    give(hall, draft(room, Void(), (2, 2)), HEAD)


def test_a_table_arbiter_cannot_undo_a_ruling_of_the_head_arbiter(played: Hall) -> None:
    room = played.scorer.state
    one = give(played, draft(room, Void(), PLAY))
    assert refusal(played, draft(room, Undo(ruling=one.id)), TABLE) == "head_arbiter_only"
    assert refusal(played, draft(room, Deadline(at=NOW)), TABLE) == "head_arbiter_only"
    give(played, draft(room, Undo(ruling=one.id)))
    assert refusal(played, draft(room, Undo(ruling=one.id))) == "nothing_to_undo"


EAST, SOUTH = HERE.players["east"], HERE.players["south"]
STRANGER = next(player for player in event().players if player not in HERE.players.values())


@pytest.mark.parametrize(
    ("decision", "where", "code"),
    [
        (Void(), {}, "subject_missing"),
        (Void(), {"table": 1}, "subject_missing"),
        (Void(), {"table": 1, "round": 99}, "unknown_play"),
        (Void(), {"table": 99, "round": 1}, "unknown_play"),
        (Void(), {"table": 1, "round": 2, "deal": HERE.deal % 4 + 1}, "unknown_play"),
        (Fouled(groups=((1,), (2,))), {}, "subject_missing"),
        (Fouled(groups=((1,), (2,))), {"deal": 99}, "unknown_deal"),
        (Fouled(groups=((1, 2), (2,))), {"deal": 1}, "groups_wrong"),
        (Fouled(groups=((1, 9),)), {"deal": 1}, "groups_wrong"),
        (Award(gives={"p99": 3}), {}, "nobody_of_event"),
        (Award(gives={STRANGER: 3}), {"table": 1, "round": 2}, "not_of_play"),
        (Adjusted(gives={EAST: 3}), {"table": 1, "round": 2}, "gifts_missing"),
        (SeatsPlayed(players={"east": EAST}), {"table": 1, "round": 2}, "seats_doubled"),
        (SeatsPlayed(players=dict.fromkeys(HERE.players, EAST)), {"table": 1, "round": 2}, "seats_doubled"),
        (DealPlayed(played=99, result=None), {"table": 1, "round": 2}, "unknown_deal"),
        (DealPlayed(played=1, result=None), {"table": 1, "round": 2}, "ruling_conflict"),
        (correct(OUTCOMES[1], "a-result-that-is-not"), {"table": 1, "round": 2}, "ruling_conflict"),
        (Reopen(), {"table": 1, "round": 2}, "reopen_at_table"),
        (Undo(ruling="no-such-ruling"), {}, "nothing_to_undo"),
        (Deadline(at=NOW), {"table": 1, "round": 2}, "subject_missing"),
    ],
)
def test_an_impossible_ruling_is_refused_with_its_code(untouched: Hall, decision: Any, where: Any, code: str) -> None:  # noqa: ANN401 - any form
    room = untouched.scorer.state
    after = room.last_message_id(PLAY) if (where.get("table"), where.get("round")) == PLAY else None
    one = RulingDraft(id="ruling-bad-1", after=after, decision=decision, reason="because", **where)
    assert refusal(untouched, one) == code


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"points": {"east": 1, "south": 0, "west": 0, "north": 0}}, "wrong_points"),
        ({"win": "draw"}, "impossible_result"),
    ],
)
def test_a_correction_must_follow_the_rules(untouched: Hall, change: Any, code: str) -> None:  # noqa: ANN401 - fields of any form
    room = untouched.scorer.state
    right = correct(OUTCOMES[1], room.results[PLAY].id)
    assert refusal(untouched, draft(room, replace(right, **change), PLAY)) == code


def test_corrected_seats_move_fines_of_the_table_but_must_not_strand_those_of_the_desk(
    hall: Hall,
) -> None:
    hall.hear(*whole_event())
    room, key = hall.scorer.state, (1, 3)
    elsewhere = event().bookings[2, 3].players["north"]
    seats = {**event().bookings[key].players, "north": elsewhere}
    moved = give(hall, draft(room, SeatsPlayed(players=seats), key))
    assert room.play(key).fines == {elsewhere: 4}
    fine = give(hall, draft(room, FineRuled(takes={elsewhere: 4}, infraction="sound"), key))
    back = draft(room, SeatsPlayed(players=dict(event().bookings[key].players)), key)
    assert refusal(hall, back) == "gifts_stand"
    assert refusal(hall, draft(room, Undo(ruling=moved.id))) == "gifts_stand"
    give(hall, draft(room, Undo(ruling=fine.id)))
    give(hall, draft(room, Undo(ruling=moved.id)))
    assert room.play(key).fines == {event().bookings[key].players["north"]: 4}


def test_a_play_settled_at_the_desk_is_left_out_by_its_table_until_that_is_undone(hall: Hall) -> None:
    room = hall.scorer.state
    hall.hear(*whole_log(1)[:7])
    give(hall, draft(room, Void(), (1, 1)))
    assert (hall.ear.told("assignment/1")["recorded"], hall.ear.told("assignment/1")["settled"]) == ([1], [])
    one = give(hall, draft(room, Void(), PLAY))
    assert (hall.ear.told("assignment/1")["recorded"], hall.ear.told("assignment/1")["settled"]) == ([1, 2], [2])
    assert make_hall(hall.folder, hall.journal).scorer.state.settled(1) == (2,)
    give(hall, draft(room, Undo(ruling=one.id)))
    assert (hall.ear.told("assignment/1")["recorded"], hall.ear.told("assignment/1")["settled"]) == ([1], [])


def test_a_replacement_deal_is_assigned_to_the_table_and_accepted_from_it(hall: Hall) -> None:
    room = hall.scorer.state
    other = HERE.deal % 4 + 1
    give(hall, draft(room, DealPlayed(played=other, result=None), PLAY))
    assigned = {play["round"]: play["deal"] for play in hall.ear.told("assignment/1")["plays"]}
    assert assigned == {round_: event().bookings[1, round_].deal for round_ in range(1, 5)} | {2: other}
    (first,) = [one for one in whole_event() if one.table == 1 and one.id.endswith("-1")]
    with_other_deal = replace(first, fact=replace(first.fact, round=2, deal=other))
    hall.hear(with_other_deal)
    assert isinstance(with_other_deal, LogMessage)
    assert hall.journal.height == 2
    assert make_hall(hall.folder, hall.journal).scorer.state.replanned(1) == {2: other}
