"""The intake: every reason for refusing a message, and that a refused message changes nothing."""

from collections.abc import Callable, Iterable
from itertools import permutations
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.protocol import (
    Adjusted,
    Call,
    Confirmed,
    Fact,
    Fine,
    FineRuled,
    LetIn,
    LogMessage,
    Order,
    Overridden,
    Paused,
    PinWrong,
    Refusal,
    Reopen,
    Result,
    Ruled,
    TableDecision,
    Void,
    encode,
    fact_hash,
    topics,
)
from broker.protocol.types import RulerRole
from broker.rules import Outcome
from broker.scorer.intake import MOST_LISTED, MOST_MISSING, MOST_OF_A_KIND, MOST_RULED, Intake, IntakeVerdict, TableBook
from broker.store.journal import MOST_REFUSALS
from tests.broker.scorer.hall import Hall, make_hall, open_journal, put
from tests.broker.scorer.small import NAME, OUTCOMES, event, fact, restored, result, sent, state, whole_log, whole_play

FIRST = fact(1, 1, restored(1))
RESULT = fact(1, 2, result(1))


@pytest.fixture
def intake() -> Intake:
    return Intake(event(), [])


def said(intake: Intake, message: LogMessage) -> IntakeVerdict:
    """Judge a message, and record it if it is new, as the scorer does."""
    verdict = intake.judge(*sent(message))
    if verdict.new:
        intake.take(message, verdict.hash)
    return verdict


def contents(intake: Intake) -> object:
    """Return everything on which later verdicts depend."""
    return ({table: dict(book.accepted) for table, book in intake.books.items()}, set(intake._ids))


def refused(intake: Intake, message: LogMessage) -> str | None:
    """Return the code of a refusal that changed nothing."""
    before = contents(intake)
    verdict = said(intake, message)
    assert (verdict.new, contents(intake)) == (False, before)
    assert verdict.text != ""
    return verdict.code


def test_a_fact_is_accepted(intake: Intake) -> None:
    assert said(intake, FIRST) == IntakeVerdict(FIRST, new=True, hash=fact_hash(encode(FIRST)))
    assert intake.books[1].accepted == {1: FIRST}


def test_a_state_is_accepted_and_never_counts_as_new(intake: Intake) -> None:
    message = state(1)
    assert intake.judge(*sent(message)) == IntakeVerdict(message)


def test_a_resent_fact_is_accepted_without_being_new(intake: Intake) -> None:
    said(intake, FIRST)
    before = contents(intake)
    assert said(intake, FIRST) == IntakeVerdict(FIRST)
    assert contents(intake) == before
    assert intake.books[1].refused == []


def test_of_two_facts_with_the_same_number_the_first_counts(intake: Intake) -> None:
    said(intake, FIRST)
    assert refused(intake, fact(1, 1, restored(1), id_="another-id")) == "conflict"
    assert refused(intake, fact(1, 1, restored(1, form="0" * 64))) == "conflict"
    assert refused(intake, fact(1, 1, restored(1), at=1001)) == "conflict"
    assert intake.books[1].accepted == {1: FIRST}


def test_an_id_cannot_be_used_again_with_another_number(intake: Intake) -> None:
    said(intake, FIRST)
    assert refused(intake, fact(1, 2, restored(1), id_=FIRST.id)) == "id_reused"
    assert refused(intake, fact(2, 1, restored(2), id_=FIRST.id)) == "id_reused"


def test_a_number_too_far_ahead_is_refused(intake: Intake) -> None:
    assert refused(intake, fact(1, MOST_MISSING + 1, restored(1))) == "seq_out_of_range"
    assert said(intake, fact(1, MOST_MISSING, restored(1))).new
    assert refused(intake, fact(1, MOST_MISSING + 2, restored(1))) == "seq_out_of_range"
    assert said(intake, fact(1, MOST_MISSING + 1, restored(1))).new


def test_a_table_that_is_not_in_the_event_is_unknown(intake: Intake) -> None:
    assert refused(intake, fact(9, 1, restored(1))) == "unknown_table"
    assert intake.judge(*sent(replace(state(1), table=9))).code == "unknown_table"


def test_a_message_of_another_event_is_refused(intake: Intake) -> None:
    assert refused(intake, replace(FIRST, event="other")) == "wrong_event"
    assert intake.books[1].refused == []


@pytest.mark.parametrize(
    "said_of", [Confirmed(round=1, deal=2), Confirmed(round=5, deal=1), Confirmed(round=2, deal=9)]
)
def test_a_fact_of_an_unplanned_play_is_refused(intake: Intake, said_of: Fact) -> None:
    assert refused(intake, fact(1, 1, said_of)) == "not_planned"


PLAYERS = result(1).players
ONE, TWO, THREE, FOUR = PLAYERS.values()


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("wrong_profile", lambda r: replace(r, profile="mcr")),
        ("wrong_players", lambda r: replace(r, players={})),
        ("wrong_players", lambda r: replace(r, players={s: p for s, p in PLAYERS.items() if s != "north"})),
        ("wrong_players", lambda r: replace(r, players={**PLAYERS, "north": ONE})),
        ("wrong_players", lambda r: replace(r, players={**PLAYERS, "north": "nobody"})),
        ("impossible_result", lambda r: replace(r, winners={"east": 7})),
        ("impossible_result", lambda r: replace(r, winners={})),
        ("impossible_result", lambda r: replace(r, discarder=None)),
        ("impossible_result", lambda r: replace(r, discarder="east")),
        ("impossible_result", lambda r: replace(r, win="draw")),
        ("impossible_result", lambda r: replace(r, win="self_drawn")),
        ("wrong_points", lambda r: replace(r, points={**r.points, "south": -7})),
        ("wrong_points", lambda r: replace(r, points={})),
        ("wrong_points", lambda r: replace(r, winners={"east": 19})),
    ],
)
def test_an_impossible_result_is_refused(intake: Intake, code: str, change: Callable[[Result], Result]) -> None:
    assert refused(intake, fact(1, 2, change(result(1)))) == code
    assert [(one.seq, one.code) for one in intake.books[1].refused] == [(2, code)]


def test_players_may_sit_at_other_seats_than_planned(intake: Intake) -> None:
    swapped = replace(result(1), players={**PLAYERS, "east": TWO, "south": ONE})
    assert said(intake, fact(1, 1, swapped)).new


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda o: f"{o.win}, {len(o.winners)}")
def test_every_kind_of_result_is_accepted(intake: Intake, outcome: Outcome) -> None:
    assert said(intake, fact(1, 1, result(1, outcome=outcome))).new


def test_messages_meant_for_others_are_refused(intake: Intake) -> None:
    order = Order(id="order-0001", event=NAME, table=1, seq=1, command="clear_call", author="Ana")
    assert intake.judge(topics.ORDER.at(NAME, table=1), encode(order)).code == "not_for_scorer"


@pytest.mark.parametrize(
    ("topic", "payload", "code"),
    [
        ("hm/cup/table/1/log", b"?", "malformed"),
        ("hm/cup/table/1/log", b" " * 24_000, "too_large"),
        ("hm/cup/table/2/log", encode(FIRST), "wrong_table"),
        ("hm/cap/table/1/log", encode(FIRST), "wrong_event"),
        ("hm/cup/tables/1/log", encode(FIRST), "unknown_topic"),
    ],
)
def test_malformed_messages_are_refused_with_their_code(intake: Intake, topic: str, payload: bytes, code: str) -> None:
    before = contents(intake)
    verdict = intake.judge(topic, payload)
    assert (verdict.message, verdict.code, verdict.new) == (None, code, False)
    assert contents(intake) == before


def test_a_refusal_is_listed_once_however_often_it_is_sent(intake: Intake) -> None:
    for _ in range(3):
        refused(intake, fact(1, 2, Confirmed(round=5, deal=1)))
    assert [(one.seq, one.code) for one in intake.books[1].refused] == [(2, "not_planned")]


def test_only_the_latest_refusals_are_listed(intake: Intake) -> None:
    for seq in range(1, MOST_LISTED + 11):
        refused(intake, fact(1, seq, Confirmed(round=5, deal=1)))
    assert [one.seq for one in intake.books[1].refused] == list(range(11, MOST_LISTED + 11))


def test_a_refusal_is_forgotten_once_its_fact_is_accepted(intake: Intake) -> None:
    late = fact(1, MOST_MISSING + 1, restored(1))
    assert refused(intake, late) == "seq_out_of_range"
    said(intake, FIRST)
    assert said(intake, late).new
    assert intake.books[1].refused == []


def test_gaps_are_the_missing_numbers_below_the_highest(intake: Intake) -> None:
    book = intake.books[1]
    assert (book.upto, book.gaps()) == (0, ())
    for seq in (5, 2, 1):
        said(intake, fact(1, seq, restored(1)))
    assert (book.upto, book.gaps()) == (5, (3, 4))


@pytest.mark.parametrize(
    ("refused", "waits"), [({}, True), ({1: "another_device"}, True), ({1: "pin_unproven"}, False)]
)
def test_a_fact_refused_for_good_is_not_waited_for(refused: dict[int, str], *, waits: bool) -> None:
    book = TableBook(refused=[Refusal(seq=seq, id=f"fact-{seq}", code=code) for seq, code in refused.items()])
    book.take(fact(1, 2, restored(1)))
    assert (book.lacks_before(2), book.lacks_before(1)) == (waits, False)


def test_recent_facts_are_listed_in_the_order_last_seen(intake: Intake) -> None:
    for seq in (1, 3, 2, 1):
        said(intake, fact(1, seq, restored(1)))
    assert [(one.seq, one.id) for one in intake.books[1].recent_facts()] == [
        (3, "t1-fact-3"),
        (2, "t1-fact-2"),
        (1, "t1-fact-1"),
    ]


def test_only_so_many_recent_facts_are_listed(intake: Intake) -> None:
    for seq in range(1, MOST_LISTED + 3):
        said(intake, fact(1, seq, restored(1)))
    assert [one.seq for one in intake.books[1].recent_facts()] == list(range(3, MOST_LISTED + 3))
    said(intake, fact(1, 1, restored(1)))
    assert [one.seq for one in intake.books[1].recent_facts()][-1] == 1


def test_an_intake_made_from_the_journal_judges_like_the_original(intake: Intake) -> None:
    for message in (FIRST, RESULT):
        said(intake, message)
    again = Intake(event(), [FIRST, RESULT])
    assert contents(again) == contents(intake)
    assert refused(again, replace(RESULT, seq=3)) == "id_reused"


def test_a_fine_that_the_profile_lacks_is_refused(intake: Intake) -> None:
    assert refused(intake, fact(1, 1, result(1, fines={"east": Fine(imp=99, reason="spite")}))) == "fine_not_in_profile"
    allowed = event().profile.false_hu.fines.value[0]
    assert said(intake, fact(1, 1, result(1, fines={"east": Fine(imp=allowed, reason="false hu")}))).new


def test_a_result_with_players_of_another_table_is_refused(intake: Intake) -> None:
    elsewhere = replace(result(1), players=result(2).players)
    assert refused(intake, fact(1, 1, elsewhere)) == "wrong_players"


def ruled(decision: TableDecision, role: RulerRole = "table_arbiter") -> Ruled:
    return Ruled(round=1, deal=event().bookings[1, 1].deal, decision=decision, author="A", role=role, reason="R")


def test_no_table_can_rule_as_the_head_arbiter(intake: Intake) -> None:
    assert refused(intake, fact(1, 1, ruled(Void(), "head_arbiter"))) == "not_ruled_here"
    assert said(intake, fact(1, 1, ruled(Void()))).new


def test_the_number_of_rulings_of_a_table_on_a_play_is_limited(intake: Intake) -> None:
    for seq in range(1, MOST_RULED + 1):
        assert said(intake, fact(1, seq, ruled(Void()))).new
    assert refused(intake, fact(1, MOST_RULED + 1, ruled(Void()))) == "too_many_rulings"
    assert said(intake, fact(2, 1, replace(ruled(Void()), deal=event().bookings[2, 1].deal))).new


def test_arbiter_facts_of_a_table_are_limited_and_its_results_still_accepted(intake: Intake) -> None:
    deal = event().bookings[1, 1].deal
    told = (Paused(round=1, deal=deal, begin=True, author="A"), PinWrong(round=1, deal=deal, tries=1))
    for seq in range(1, MOST_OF_A_KIND + 1):
        assert said(intake, fact(1, seq, told[seq % 2])).new
    more = (*told, LetIn(round=1, deal=deal, author="A", by="pin"))
    assert {refused(intake, fact(1, MOST_OF_A_KIND + 1, one)) for one in more} == {"too_many_facts"}
    assert said(intake, fact(1, MOST_OF_A_KIND + 2, result(1))).new
    assert said(intake, fact(2, 1, replace(told[1], deal=event().bookings[2, 1].deal))).new
    again = Intake(event(), [message for book in intake.books.values() for message in book.accepted.values()])
    assert refused(again, fact(1, MOST_OF_A_KIND + 1, told[0])) == "too_many_facts"
    going_on = Overridden(round=1, deal=deal, guards=("out_of_order",), reason="R")
    for seq in range(MOST_OF_A_KIND + 3, 2 * MOST_OF_A_KIND + 3):
        assert said(again, fact(1, seq, going_on)).new
    assert refused(again, fact(1, 2 * MOST_OF_A_KIND + 3, going_on)) == "too_many_facts"


def test_an_adjustment_at_a_table_names_exactly_the_four_of_its_play(intake: Intake) -> None:
    here = [*event().bookings[1, 1].players.values()]
    other = [*event().bookings[2, 1].players.values()]
    for given in (here[:3], [*here[:3], other[0]], [*here, other[0]]):
        assert refused(intake, fact(1, 1, ruled(Adjusted(gives=dict.fromkeys(given, "own"))))) == "wrong_players"
    assert said(intake, fact(1, 1, ruled(Adjusted(gives=dict.fromkeys(here, "own"))))).new
    assert said(intake, fact(1, 2, ruled(FineRuled(takes={here[0]: 4})))).new


def test_a_penalty_at_a_table_must_be_one_of_the_rules(intake: Intake) -> None:
    west = event().bookings[1, 1].players["west"]
    for strange in (
        FineRuled(takes={west: 5}, infraction="sound", exception=True),
        FineRuled(takes={west: 0}, measure="dead_hand", infraction="sound"),
        FineRuled(takes={west: 0}, measure="warning", infraction="spat"),
    ):
        assert refused(intake, fact(1, 1, ruled(strange))) == "fine_not_in_profile"
    assert said(intake, fact(1, 1, ruled(FineRuled(takes={west: 4}, infraction="sound")))).new


REOPENED = (
    fact(1, 1, restored(1)),
    fact(1, 2, result(1)),
    fact(
        1, 3, Ruled(round=1, deal=1, role="table_arbiter", author="table", reason="entered wrongly", decision=Reopen())
    ),
    fact(1, 4, result(1, outcome=OUTCOMES[0])),
)


@pytest.mark.parametrize("order", [*permutations(REOPENED)])
def test_a_reopened_play_accepts_both_results_in_any_order(intake: Intake, order: tuple[LogMessage, ...]) -> None:
    assert [said(intake, message).code for message in order] == [None] * 4


# ---- a table that tells without end: others are heard, and so is what it tells afterwards ---------

DEAL_1 = event().bookings[1, 1].deal


def toggles(numbers: Iterable[int]) -> list[LogMessage]:
    """Let table 1 call and withdraw the call, again and again."""
    return [fact(1, seq, Call(round=1, deal=DEAL_1, open=seq % 2 == 1)) for seq in numbers]


def flood(hall: Hall, count: int) -> None:
    """Let this many such messages arrive, among the whole logs of other tables."""
    put(hall.scorer, *toggles(range(1, count // 2)))
    put(hall.scorer, *whole_log(2), *whole_log(4))
    put(hall.scorer, *toggles(range(count // 2, count + 1)))
    while hall.scorer._inbox.qsize():
        hall.scorer.step(timeout=0)


def test_a_flood_of_calls_is_limited_with_one_alert_and_other_tables_are_served(hall: Hall) -> None:
    flood(hall, 700)
    assert len(hall.scorer.live.intake.books[1].accepted) == MOST_OF_A_KIND
    assert hall.alerts().count(("too_many_facts", 1)) == 1
    assert [hall.ear.told(f"receipt/{table}")["upto"] for table in (2, 4)] == [len(whole_log(2)), len(whole_log(4))]


@pytest.mark.slow
def test_a_flood_of_30600_calls_takes_little_space_on_the_disk(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        hall = make_hall(tmp_path, journal)
        flood(hall, 30_600)
        assert {code for code, table in hall.alerts() if table == 1} == {"too_many_facts", "seq_out_of_range"}
        assert journal.height == MOST_OF_A_KIND + len(whole_log(2)) + len(whole_log(4))
        assert len([*journal.refused()]) == MOST_REFUSALS
    assert sum(file.stat().st_size for file in tmp_path.glob("store.sqlite3*")) < 8_000_000


def test_after_a_flood_later_facts_are_accepted_without_gaps_even_after_a_restart(tmp_path: Path) -> None:
    last = MOST_OF_A_KIND + 800
    with open_journal(tmp_path) as journal:
        hall = make_hall(tmp_path, journal)
        hall.hear(*toggles(range(1, last)))
        hall.scorer.step(timeout=0)  # as many as one commit holds, and then the rest
        hall.hear(*whole_play(1, first=last))
        said = hall.ear.told("receipt/1")
        assert (said["upto"], said["gaps"], hall.scorer.state.plays_at(1)) == (last + 4, [], 1)
        assert [code for code, _ in hall.alerts()] == ["too_many_facts"]
    with open_journal(tmp_path) as journal:
        again = make_hall(tmp_path, journal)
        again.hear(*whole_play(1, 2, first=last + 5))
        said = again.ear.told("receipt/1")
        assert (said["upto"], said["gaps"], again.alerts()) == (last + 9, [], [])
        assert again.scorer.state.plays_at(1) == 2


def test_a_fact_passed_over_and_accepted_later_is_no_longer_refused(hall: Hall) -> None:
    book = hall.scorer.live.intake.books[1]
    hall.hear(*toggles(range(1, MOST_OF_A_KIND + 2)))
    assert book.passed_over == {MOST_OF_A_KIND + 1}
    hall.hear(fact(1, MOST_OF_A_KIND + 1, result(1)))
    assert (book.passed_over, book.gaps(), book.upto) == (set(), (), MOST_OF_A_KIND + 1)
