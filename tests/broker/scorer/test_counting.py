"""A declared hand is counted from serials, only for its own table, and nobody can find out faces by asking."""

import json
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace

from broker.event import DealRecord, Event, RiichiBooking
from broker.protocol import (
    SEATS,
    Confirmed,
    CountedFan,
    CountRequest,
    Declared,
    HandLayout,
    LogMessage,
    McrValue,
    McrWinDetails,
    NotCounted,
    Overridden,
    Press,
    Restored,
    Seat,
    Seated,
    Verifier,
    encode,
    topics,
)
from broker.rules import FULL_SET, KINDS, Outcome
from broker.rules.mcr import RULESETS, Ruleset, fan_value
from broker.rules.mcr.fan import fan_entries
from broker.scorer.counting import MOST_COUNTS, HandCounter
from broker.store import SqliteJournal
from tests.broker.scorer.hall import Hall, make_hall
from tests.broker.scorer.small import NAME, OTHER_FORM, deals, fact, plan, registry, result

HAND: Final = (*KINDS[:9], "1p", "2p", "1z", "1z")
"""East's hand: a pure straight waiting for 3p, the next tile of the own wall."""

OTHERS: Final[dict[Seat, tuple[str, ...]]] = {
    "south": ("3p", "7p"),
    "west": ("9p", "9p"),
    "north": ("3p", "1z"),
}
"""The first tiles dealt to the others."""


def crafted() -> Event:
    """Return the small event with another first deal."""
    left = [*FULL_SET]
    starts: dict[Seat, tuple[str, ...]] = {"east": (*HAND, "3p", "9p", "9p"), **OTHERS}
    for face in (face for start in starts.values() for face in start):
        left.remove(face)
    Random(1).shuffle(left)
    faces = {seat: (*starts[seat], *(left.pop() for _ in range(34 - len(starts[seat])))) for seat in SEATS}
    return Event(plan(), (DealRecord(1, 1, "east", "east", faces), *deals()[1:]), registry())


EVENT: Final = crafted()
TABLE: Final = next(table for (table, round_), booking in EVENT.bookings.items() if (round_, booking.deal) == (1, 1))


def dealt(seat: Seat) -> tuple[int, ...]:
    return tuple(serial for row in EVENT.order(1)[seat] for serial in row)


def declared(seat: Seat = "east", seq: int = 1) -> LogMessage:
    return fact(TABLE, seq, Declared(round=1, deal=1, presses=(Press(seat=seat, after_ms=0),)))


def restored(seq: int = 9, by: Verifier = "camera") -> LogMessage:
    """Return the fact that the walls were found right. If ticked by hand, no device has read them."""
    return fact(TABLE, seq, Restored(round=1, deal=1, verified=by != "hand", by=by, form=EVENT.form(1), refusals=0))


READ: Final = (restored(), declared())


def asked(
    *groups: tuple[int, ...],
    seat: Seat = "east",
    last_tile: bool = False,
    kong: bool = False,
    last_of_kind: bool = False,
) -> CountRequest:
    said = McrWinDetails(last_tile=last_tile, kong=kong, last_of_kind=last_of_kind)
    return CountRequest(id="request-1", event=NAME, table=TABLE, round=1, deal=1, seat=seat, groups=groups, said=said)


SELF_DRAWN: Final = asked(dealt("east")[:13], dealt("east")[13:14])
ON_A_DISCARD: Final = asked(dealt("east")[:13], dealt("south")[:1])


def fan_of(request: CountRequest, *told: LogMessage, recorded: tuple[int, ...] = ()) -> dict[str, int] | str:
    answer = HandCounter(EVENT).answer(request, told or READ, recorded=recorded)
    if isinstance(answer, NotCounted):
        return answer.code
    assert isinstance(answer, McrValue)
    assert answer.fan == sum(one.fan for one in answer.elements)
    return {one.id: one.fan for one in answer.elements}


def test_a_self_drawn_hand_is_counted_from_its_tiles() -> None:
    assert fan_of(SELF_DRAWN) == {
        "pure_straight": 16,
        "fully_concealed_hand": 4,
        "mixed_double_chow": 1,
        "edge_wait": 1,
        "one_voided_suit": 1,
    }


def test_a_tile_from_another_tray_was_discarded_by_its_player() -> None:
    counted = fan_of(ON_A_DISCARD)
    assert isinstance(counted, dict)
    assert (counted.get("concealed_hand"), counted.get("fully_concealed_hand")) == (2, None)


def test_a_group_with_a_tile_from_another_tray_is_a_claimed_meld() -> None:
    east = dealt("east")
    claimed = (*east[9:11], dealt("south")[0])
    hand = asked(east[:9], claimed, east[11:12], (dealt("north")[1],))
    counted = fan_of(asked((*east[:9], east[11]), claimed, (east[12],)))
    assert counted == "not_drawn_last"
    worth = fan_of(hand)
    assert isinstance(worth, dict)
    assert (worth["pure_straight"], worth.get("concealed_hand")) == (16, None)


def test_circumstances_entered_by_the_table_are_counted_too() -> None:
    last = fan_of(asked(dealt("east")[:13], dealt("east")[13:14], last_tile=True))
    assert isinstance(last, dict)
    assert last["last_tile_draw"] == 8
    robbed = fan_of(asked(dealt("east")[:13], dealt("south")[:1], kong=True))
    assert isinstance(robbed, dict)
    assert robbed["robbing_the_kong"] == 8


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (asked(dealt("east")[:13], dealt("south")[1:2]), "not_winning"),
        (asked(dealt("east")[:12], dealt("east")[13:14]), "wrong_tile_count"),
        (asked(dealt("east")[:14], dealt("south")[:1]), "wrong_tile_count"),
        (asked(dealt("east")[:13], dealt("east")[13:15]), "winning_tile_not_apart"),
        (asked(dealt("south")[:13], dealt("east")[13:14]), "not_a_meld"),
        (asked(dealt("east")[:13], dealt("east")[13:14], kong=True), "replacement_without_kong"),
        (asked(dealt("east")[:13], dealt("south")[:1], seat="south"), "not_declared"),
        (asked((*dealt("east")[:12], dealt("east")[14]), dealt("west")[:1], last_of_kind=True), "not_winning"),
        (
            asked(
                (*dealt("east")[:9], dealt("east")[11]), (*dealt("east")[9:11], dealt("south")[1]), dealt("north")[1:2]
            ),
            "not_winning",
        ),
    ],
)
def test_a_hand_that_cannot_be_counted_is_refused_with_its_code(request_: CountRequest, code: str) -> None:
    assert fan_of(request_) == code


# ---- walls that were ticked by hand -------------------------------------------------------------

TICKED: Final = (restored(by="hand"), declared())


def test_if_walls_were_ticked_by_hand_serials_do_not_show_who_drew_a_tile() -> None:
    assert fan_of(SELF_DRAWN, *TICKED) == "walls_not_read"
    assert fan_of(SELF_DRAWN, restored(by="scanner"), declared()) == fan_of(SELF_DRAWN)


def test_with_ticked_walls_a_hand_is_counted_as_laid_and_entered() -> None:
    drawn, claimed = (
        fan_of(replace(SELF_DRAWN, said=McrWinDetails(laid=HandLayout(self_drawn=one))), *TICKED)
        for one in (True, False)
    )
    assert drawn == fan_of(SELF_DRAWN)
    assert isinstance(claimed, dict)
    assert (claimed.get("concealed_hand"), claimed.get("fully_concealed_hand")) == (2, None)


def test_a_group_laid_apart_is_a_claimed_meld_whoever_was_dealt_it() -> None:
    east = dealt("east")
    melded = ((*east[3:9], east[9], east[10], *east[11:13]), east[:3], east[13:14])
    worth = fan_of(replace(SELF_DRAWN, groups=melded, said=McrWinDetails(laid=HandLayout(self_drawn=True))), *TICKED)
    assert isinstance(worth, dict)
    assert (worth["pure_straight"], worth.get("fully_concealed_hand"), worth["self_drawn"]) == (16, None, 1)


def test_walls_in_another_form_show_nothing_about_draws() -> None:
    other = fact(TABLE, 1, Restored(round=1, deal=1, verified=True, form=OTHER_FORM, refusals=0))
    assert fan_of(SELF_DRAWN, other, declared()) == "walls_not_read"


def test_a_count_is_too_early_until_it_is_known_whether_the_walls_were_read() -> None:
    assert fan_of(SELF_DRAWN, declared()) == "not_restored"


# ---- whenever -----------------------------------------------------------------------------------


def test_no_hand_is_counted_before_a_declaration() -> None:
    assert HandCounter(EVENT).answer(SELF_DRAWN, ()) == NotCounted(code="not_declared")


def test_only_a_seat_that_declared_in_this_play_is_counted() -> None:
    other = fact(TABLE, 2, Declared(round=2, deal=EVENT.bookings[TABLE, 2].deal, presses=declared().fact.presses))  # type: ignore[union-attr]  # it is a declaration
    assert fan_of(SELF_DRAWN, declared("west"), other) == "not_declared"


def in_round(seq: int, round_: int) -> list[LogMessage]:
    """Return what a hostile device claims about a play, whether or not the table is at it."""
    deal = EVENT.bookings[TABLE, round_].deal
    lies = Restored(round=round_, deal=deal, verified=True, by="camera", form=EVENT.form(deal), refusals=0)
    press = Declared(round=round_, deal=deal, presses=(Press(seat="east", after_ms=0),))
    return [fact(TABLE, seq, lies), fact(TABLE, seq + 1, press)]


def in_the_second(told: list[LogMessage], recorded: tuple[int, ...] = ()) -> str:
    """Ask about the second round. Return the code of the answer."""
    deal = EVENT.bookings[TABLE, 2].deal
    own = [serial for row in EVENT.order(deal)["east"] for serial in row]
    request = replace(SELF_DRAWN, round=2, deal=deal, groups=(tuple(own[:13]), (own[13],)))
    answer = HandCounter(EVENT).answer(request, told, recorded=recorded)
    return answer.code if isinstance(answer, NotCounted) else "counted"


def test_no_hand_is_counted_in_a_round_that_is_not_the_tables_turn() -> None:
    told = in_round(1, 2)
    assert (in_the_second(told), in_the_second(told, recorded=(1,))) == ("not_declared", "not_winning")


def test_a_play_that_an_arbiter_has_brought_forward_is_counted() -> None:
    forward = Overridden(round=2, deal=EVENT.bookings[TABLE, 2].deal, guards=("out_of_order",), reason="carrier here")
    assert in_the_second([fact(TABLE, 1, forward), *in_round(2, 2)]) == "not_winning"


def test_a_reopened_play_does_not_prevent_counting_in_the_next_one() -> None:
    done = fact(TABLE, 1, result(TABLE, 1, Outcome("draw", {}, None)))
    assert in_the_second([done, *in_round(2, 2)]) == "not_winning"


def test_no_hand_is_counted_once_the_table_has_begun_another_play() -> None:
    assert fan_of(SELF_DRAWN, *READ, *in_round(20, 2)) == "not_declared"


def test_once_an_arbiter_corrected_the_declarations_any_seat_is_counted() -> None:
    corrected = Overridden(round=1, deal=1, guards=("declarations_corrected",), reason="east: a button failed")
    assert isinstance(fan_of(SELF_DRAWN, restored(), declared("west"), fact(TABLE, 2, corrected)), dict)


def test_no_hand_is_counted_once_the_play_has_a_result() -> None:
    assert fan_of(SELF_DRAWN, recorded=(1,)) == "play_has_result"


def test_a_repeated_request_gets_the_same_answer_and_costs_one_count() -> None:
    counting = HandCounter(EVENT)
    answers = [counting.answer(SELF_DRAWN, READ) for _ in range(3 * MOST_COUNTS)]
    assert answers == [answers[0]] * len(answers)
    assert isinstance(answers[0], McrValue)


def test_a_table_that_asks_too_often_is_refused() -> None:
    counting, east = HandCounter(EVENT), dealt("east")
    tries = [
        replace(SELF_DRAWN, id=f"request-{at}", groups=(east[:13], (east[13 + at % 21],))) for at in range(MOST_COUNTS)
    ]
    for one in tries:
        counting.answer(one, READ)
    assert counting.answer(replace(SELF_DRAWN, id="one-more"), READ) == NotCounted(code="counted_too_often")


def test_a_request_that_comes_too_early_costs_no_count() -> None:
    counting = HandCounter(EVENT)
    for _ in range(2 * MOST_COUNTS):
        counting.answer(SELF_DRAWN, ())
    assert isinstance(counting.answer(SELF_DRAWN, READ), McrValue)


def test_an_answer_names_fan_and_never_a_face() -> None:
    for request in (SELF_DRAWN, ON_A_DISCARD, asked(dealt("east")[:13], dealt("south")[1:2])):
        answer = HandCounter(EVENT).answer(request, READ)
        texts = set(_texts(json.loads(encode_any(answer))))
        assert texts.isdisjoint(KINDS)


def encode_any(answer: Any) -> bytes:  # noqa: ANN401 - any struct
    return encode(answer)


def _texts(told: Any) -> list[str]:  # noqa: ANN401 - any JSON
    if isinstance(told, dict):
        return [text for value in told.values() for text in _texts(value)]
    if isinstance(told, list):
        return [text for value in told for text in _texts(value)]
    return [told] if isinstance(told, str) else []


# ---- on the wire --------------------------------------------------------------------------------


@pytest.fixture
def room(tmp_path: Path, journal: SqliteJournal) -> Hall:
    """A scorer that has received the facts of a play up to a declaration."""
    hall = make_hall(tmp_path, journal, EVENT)
    booking = EVENT.bookings[TABLE, 1]
    hall.hear(
        restored(1),
        fact(TABLE, 2, Seated(round=1, deal=1, players=dict(booking.players))),
        fact(TABLE, 3, Confirmed(round=1, deal=1)),
        declared(seq=4),
    )
    return hall


def arrive(hall: Hall, request: CountRequest) -> None:
    hall.arrive(topics.COUNT.at(NAME, table=request.table), encode(request))


def test_the_scorer_answers_only_the_table_that_asked_and_stores_nothing(room: Hall) -> None:
    before = room.journal.height
    arrive(room, SELF_DRAWN)
    told = room.ear.told(f"counted/{TABLE}")
    assert (told["asked"], told["answer"]["kind"], told["answer"]["minimum"]) == ("request-1", "mcr", 8)
    assert [retain for topic, _, retain in room.ear.said if "counted" in topic] == [False]
    assert room.journal.height == before


def test_a_hand_is_counted_until_its_result_arrives(room: Hall) -> None:
    outcome = Outcome("discard", {"east": 19}, "south")
    room.hear(fact(TABLE, 5, result(TABLE, 1, outcome)))
    arrive(room, SELF_DRAWN)
    assert room.ear.told(f"counted/{TABLE}")["answer"] == {"kind": "refused", "code": "play_has_result"}


def test_a_request_for_another_table_or_event_is_refused_at_once(room: Hall) -> None:
    room.arrive(topics.COUNT.at(NAME, table=TABLE + 1), encode(SELF_DRAWN))
    arrive(room, replace(SELF_DRAWN, table=77))
    assert [topic for topic, _, _ in room.ear.said if "counted" in topic] == []
    assert room.alerts() == [("wrong_table", TABLE + 1), ("unknown_table", 77)]


def test_a_request_for_a_deal_that_the_table_does_not_play_is_refused(room: Hall) -> None:
    for other in (replace(SELF_DRAWN, deal=2), replace(SELF_DRAWN, deal=77), replace(SELF_DRAWN, round=9)):
        arrive(room, other)
    assert [topic for topic, _, _ in room.ear.said if "counted" in topic] == []
    assert [code for code, _ in room.alerts()] == ["not_planned"]
    arrive(room, SELF_DRAWN)
    assert room.ear.told(f"counted/{TABLE}")["answer"]["kind"] == "mcr"


def test_a_riichi_session_gets_no_fan_whatever_deal_it_names(tmp_path: Path, journal: SqliteJournal) -> None:
    players = dict(zip(SEATS, (player.id for player in plan().players), strict=False))
    session = RiichiBooking(round=1, table=9, profile="riichi-montreal", players=players)
    room = make_hall(tmp_path, journal, Event(replace(plan(), riichi=(session,)), deals(), registry()))
    room.hear(fact(9, 1, Confirmed(round=1, deal=1)))
    room.hear(fact(9, 2, Declared(round=1, deal=1, presses=(Press(seat="east", after_ms=0),))))
    arrive(room, replace(SELF_DRAWN, table=9, deal=1))
    assert room.ear.told("counted/9")["answer"] == {"kind": "refused", "code": "no_fan_here"}


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_fan_fits_into_an_answer(ruleset: Ruleset) -> None:
    told = [CountedFan(id=fan_id, fan=fan_value(fan_id, ruleset)) for fan_id in fan_entries()]
    assert msgspec.json.decode(msgspec.json.encode(told), type=list[CountedFan]) == told
