"""An event of planned deals under riichi rules: results are judged, compared by datum and IMPs, and recounted."""

from fractions import Fraction
from pathlib import Path

import msgspec
import pytest

from broker.event import Event, OwnRules
from broker.export.pmn.event import event_records
from broker.protocol import SEATS, Assignment, DealPlayed, RiichiEvent, RiichiWin, Undo
from broker.rules import RuleError, load_riichi, score_riichi, to_imp
from broker.rules.profiles import riichi_profile_text
from broker.rulings.preview import what_if
from broker.scorer import EventState, open_stored_event
from broker.scorer.intake import Intake
from tests.broker.rulings.ruled import ruling
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.hall import make_hall, open_journal
from tests.broker.scorer.riichi_deals import FU30, HANDS, RULES, ended, riichi_event, riichi_plan, whole_riichi_event
from tests.broker.scorer.small import deals, event, fact, registry, result, sent


def code_of(told: object, of: Event | None = None) -> str | None:
    """Return the code with which a result is refused, or None."""
    assert isinstance(told, msgspec.Struct)
    return Intake(of or riichi_event(), ()).judge(*sent(fact(1, 1, told))).code  # type: ignore[arg-type]  # a fact


def test_a_table_gets_deals_and_rules_as_in_every_event(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        hall = make_hall(tmp_path, journal, riichi_event())
        hall.connect(up=True)
        (one,) = hall.ear.heard("assignment/1")
    assert isinstance(one, Assignment)
    assert (one.profile, one.session, len(one.plays)) == ("riichi-montreal", None, 4)


@pytest.mark.parametrize("hand", HANDS, ids=lambda hand: hand.kind)
def test_a_result_that_follows_from_its_hand_is_accepted(hand: RiichiEvent) -> None:
    assert code_of(ended(1, 1, hand)) is None


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"points": {"east": 1, "south": 38, "west": -39, "north": 0}}, "wrong_points"),
        ({"hand": None}, "impossible_result"),
        ({"winners": {"south": 4}}, "impossible_result"),
        ({"winners": {}}, "impossible_result"),
        ({"discarder": "north"}, "impossible_result"),
        ({"win": "self_drawn"}, "impossible_result"),
        ({"hand": RiichiEvent(kind="ron", wins={"south": FU30})}, "impossible_result"),
        ({"hand": RiichiEvent(kind="ron", wins={"south": RiichiWin(han=1, fu=31)}, loser="west")}, "impossible_result"),
        ({"hand": RiichiEvent(kind="chombo", offenders=("south",))}, "impossible_result"),
        ({"hand": RiichiEvent(kind="end")}, "impossible_result"),
        ({"profile": "riichi-basic"}, "wrong_profile"),
    ],
)
def test_a_result_that_does_not_follow_from_its_hand_is_refused(change: dict[str, object], code: str) -> None:
    assert code_of(msgspec.structs.replace(ended(1, 1, HANDS[0]), **change)) == code


def test_han_and_fu_are_refused_in_an_event_under_mcr() -> None:
    assert code_of(msgspec.structs.replace(result(1), hand=HANDS[0]), event()) == "impossible_result"


def test_plays_of_a_deal_are_compared_by_datum_and_imp_in_hundreds() -> None:
    room = EventState(riichi_event())
    room.load(whole_riichi_event())
    for group in room.groups():
        plays = [one.play.points or {} for one in group.plays]
        for seat in SEATS:
            datum = Fraction(sum(points[seat] for points in plays), len(plays))
            assert group.datum[seat] == datum
            assert [one.imp[seat] for one in group.plays] == [
                to_imp(points[seat] - datum, riichi_event().profile.imp) for points in plays
            ]
    assert len(room.groups()) == 4


def test_a_play_ruled_to_be_of_another_deal_pays_by_its_dealer() -> None:
    room = EventState(riichi_event())
    room.load(whole_riichi_event())
    key = next(key for key in sorted(riichi_event().bookings) if (laid := room.play(key)).hand == HANDS[1])
    laid = room.play(key)
    other = next(
        deal
        for deal in sorted(riichi_event().expected)
        if room.planned.winds(deal)[1] != room.planned.winds(laid.deal)[1]
    )
    room.apply(ruling(room, DealPlayed(played=other, result=laid.result), key))
    assert room.play(key).points == score_riichi(HANDS[1], room.planned.winds(other)[1], RULES)[1] != laid.points
    room.apply(ruling(room, Undo(ruling=room.play(key).rulings[0])))
    assert room.play(key).points == laid.points


def test_the_same_hands_can_be_recounted_by_another_riichi_profile() -> None:
    room = EventState(riichi_event())
    room.load(whole_riichi_event())
    found = what_if(room.fork(), load_riichi("riichi-basic"))
    assert {one.name for one in found.players} != set()
    same = what_if(room.fork(), riichi_event().profile)
    assert same.players == ()


def test_an_event_may_have_a_riichi_profile_of_its_own() -> None:
    text = riichi_profile_text("riichi-montreal").replace('"riichi-montreal"', '"our-riichi"', 1)
    plan = msgspec.structs.replace(riichi_plan(), profile="our-riichi")
    assert Event(plan, deals(), registry(), OwnRules(text)).profile.id == "our-riichi"


def test_a_hand_of_riichi_has_no_record_in_fan(tmp_path: Path) -> None:
    stored = open_stored_event(event_folder(tmp_path, whole_riichi_event(), riichi_plan()))
    with pytest.raises(RuleError, match="none of riichi"):
        list(event_records(stored))
    assert len([laid for _, laid in stored.played() if laid.hand]) == 16
