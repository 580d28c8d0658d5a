"""A hand of riichi is counted, in a session by the set in use and in a planned deal, each hand anew."""

from random import Random
from typing import Final

import pytest
from msgspec.structs import replace

from broker.event import Event, RiichiBooking
from broker.protocol import (
    SEATS,
    AnyCountAnswer,
    CountRequest,
    Declared,
    HandLayout,
    LogMessage,
    NotCounted,
    Press,
    Restored,
    RiichiEvent,
    RiichiRecorded,
    RiichiTakenBack,
    RiichiValue,
    RiichiWinDetails,
)
from broker.scorer.counting import MOST_COUNTS, HandCounter
from tests.broker.rules.face_down_hands import lay_down
from tests.broker.scorer.small import NAME, deals, fact, plan, registry
from tests.kiosk.riichi_tables import RiichiSitting

TABLE: Final = 9

LAID: Final = lay_down(
    ("2m", "3m", "4m", "6p", "7p", "8p", "2s", "3s", "4s", "5s", "5s", "7s", "8s"), (), "6s", Random(2), (("1m",),)
)
"""A pinfu with all simples, riichi and a dora, 4 han in all; and the indicator."""

BOOKED: Final = RiichiBooking(
    round=1,
    table=TABLE,
    profile="riichi-montreal",
    players={seat: player.id for seat, player in zip(SEATS, plan().players, strict=False)},
    set=7,
)

SAID: Final = RiichiWinDetails(
    laid=HandLayout(self_drawn=False), round_wind="east", dealer="south", riichi="riichi", dora=LAID.under[0]
)


def event(number: int = 7) -> Event:
    return Event(replace(plan(), riichi=(BOOKED,)), deals(), {**registry(), number: LAID.faces})


def request(deal: int = 1, id_: str = "request-1") -> CountRequest:
    return replace(LAID.request(SAID), id=id_, event=NAME, table=TABLE, deal=deal)


def declared(deal: int = 1, seq: int = 1) -> LogMessage:
    return fact(TABLE, seq, Declared(round=1, deal=deal, presses=(Press(seat="east", after_ms=0),)))


def answer_to(asked: CountRequest, *told: LogMessage, of: Event | None = None) -> AnyCountAnswer:
    return HandCounter(of or event()).answer(asked, told)


def recorded(kind: str = "ron") -> RiichiRecorded:
    """Return a hand of a session, as its table reports it."""
    sitting = RiichiSitting()
    sitting.begin()
    if kind == "ron":
        sitting.ron("east", "west")
        sitting.record()
    else:
        sitting.tell("minor_fault", offenders=["west"])
    (told,) = (one for one in sitting.facts if isinstance(one, RiichiRecorded))
    assert told.event.kind == kind
    assert isinstance(told.event, RiichiEvent)
    return told


def test_a_hand_of_a_session_is_counted_by_the_tile_set_in_use() -> None:
    answer = answer_to(request(), declared())
    assert isinstance(answer, RiichiValue)
    assert [(one.id, one.han) for one in answer.yaku] == [("riichi", 1), ("pinfu", 1), ("tanyao", 1), ("dora", 1)]
    assert (answer.han, answer.fu, answer.yakuman) == (4, 30, 0)
    assert [(one.id, one.fu) for one in answer.items] == [("winning", 20), ("concealed_ron", 10)]


def test_a_set_that_is_not_registered_completely_is_refused() -> None:
    half = Event(replace(plan(), riichi=(BOOKED,)), deals(), {**registry(), 7: {1: "1m"}})
    answers = [answer_to(request(), declared(), of=of) for of in (event(8), half)]
    assert answers == [NotCounted(code="set_not_registered")] * 2


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ((), "not_declared"),
        ((declared(deal=2),), "not_declared"),
        ((declared(), fact(TABLE, 2, recorded())), "play_has_result"),
        ((declared(), fact(TABLE, 2, recorded("minor_fault"))), ""),
        ((fact(TABLE, 3, RiichiTakenBack(round=1, deal=1, entry=1)), fact(TABLE, 2, recorded()), declared()), ""),
    ],
)
def test_a_hand_of_a_session_is_counted_until_it_is_recorded(told: tuple[LogMessage, ...], code: str) -> None:
    answer = answer_to(request(), *told)
    assert (answer.code if isinstance(answer, NotCounted) else "") == code


def test_each_hand_of_a_session_has_its_own_counts() -> None:
    counting, told = HandCounter(event()), [declared()]
    for at in range(MOST_COUNTS):
        counting.answer(request(id_=f"request-{at}"), told)
    last = request(id_="one-more")
    assert counting.answer(last, told) == NotCounted(code="counted_too_often")
    assert isinstance(counting.answer(replace(last, deal=2), [*told, declared(deal=2, seq=2)]), RiichiValue)


def test_a_planned_riichi_deal_is_counted_whether_its_walls_were_read_or_ticked() -> None:
    of = Event(replace(plan(), profile="riichi-montreal"), deals(), registry())
    table = next(table for (table, round_), booking in of.bookings.items() if (round_, booking.deal) == (1, 1))
    faces = of.faces(1)
    free = {face: [serial for serial in faces if faces[serial] == face] for face in faces.values()}
    tiles = [LAID.faces[serial] for group in LAID.groups for serial in group]
    serials = tuple(free[face].pop() for face in tiles)
    said = replace(SAID, dora=(free["1m"].pop(),))
    asked = replace(request(), table=table, groups=(serials[:13], serials[13:]), said=said)
    for by in ("camera", "hand"):
        walls = Restored(round=1, deal=1, verified=by != "hand", by=by, form=of.form(1), refusals=0)
        pressed = Declared(round=1, deal=1, presses=(Press(seat="east", after_ms=0),))
        answer = answer_to(asked, fact(table, 1, walls), fact(table, 2, pressed), of=of)
        assert isinstance(answer, RiichiValue)
        assert (answer.han, answer.fu) == (4, 30)
