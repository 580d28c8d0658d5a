"""Hands of a record settled again: what each pays, how the session goes on, and when it ends.

The sample is a session made up by us, every number of it reckoned by hand: it has each way in which a hand can end.
"""

from pathlib import Path
from typing import Final

import pytest

from broker.riichi.mjlog.course import checked_hands
from broker.riichi.mjlog.hands import Hand, hands_of
from broker.riichi.mjlog.record import checked
from broker.riichi.mjlog.tags import tags_of
from broker.rules.riichi.profile_files import load
from broker.rules.riichi.session.events import Abort, ExhaustiveDraw, Ron, Tsumo

TEXT: Final = Path(__file__).with_name("sample.mjlog").read_text(encoding="ascii")
TENHOU: Final = load("riichi-tenhou")


def differences(*changes: tuple[str, str]) -> dict[int, tuple[str, ...]]:
    """Change the sample and give what differs, by the number of the hand."""
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return {one.number: one.differences for one in checked_hands(tags_of(text.encode()), TENHOU) if one.differences}


def test_every_hand_of_the_sample_pays_and_goes_on_as_here() -> None:
    assert checked(TEXT.encode(), TENHOU).hands[-1].number == 15
    assert differences() == {}


def test_the_sample_has_each_way_in_which_a_hand_can_end() -> None:
    events = [hand.event() for hand in hands_of(tags_of(TEXT.encode())) if isinstance(hand, Hand)]
    assert {one.reason for one in events if isinstance(one, Abort)} == {*TENHOU.session.draw.aborts.value}
    assert [len(one.wins) for one in events if isinstance(one, Ron)] == [1, 2, 1, 1, 1]
    assert [one.wins[0].responsible for one in events if isinstance(one, Ron)] == [None, None, 0, None, None]
    assert len([one for one in events if isinstance(one, Tsumo)]) == 1
    assert [one.nagashi for one in events if isinstance(one, ExhaustiveDraw)] == [(), (0,), (), ()]


E3 = "E3, {} counters, 1 deposits, (22500, 43200, 19500, 13800)"
GOES_ON = "goes on with {}, in the record with {}"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'sc="256,-178,441,-160,',
            'sc="256,-160,441,-178,',
            {12: ("pays (-17800, -16000, 0, 37800), in the record (-16000, -17800, 0, 37800)",)},
        ),
        (
            'seed="2,2,1',
            'seed="2,1,1',
            {
                3: (GOES_ON.format(E3.format(2), E3.format(1)),),
                4: (
                    "1 counters and 1 deposits, in the record 2 and 1",
                    GOES_ON.format(E3.format(2), E3.format(3)),
                ),
            },
        ),
        (
            "506,51.0",
            "496,51.0",
            {15: ("ends with (14500, 26100, 8800, 50600), in the record with (14500, 26100, 8800, 49600)",)},
        ),
        ('type="kaze4"', 'type="wind4"', {6: ("bad_record: no hand ends by 'wind4'",)}),
        ('<RYUUKYOKU type="kaze4"', "<NOTHING", {6: ("bad_record: hand 6 has no end",)}),
        (
            '<RYUUKYOKU type="kaze4"',
            '<RYUUKYOKU type="kan4"/><RYUUKYOKU',
            {6: ("bad_record: hand 6 ends twice without a win",)},
        ),
        ('<RYUUKYOKU type="kaze4"', "<AGARI/><RYUUKYOKU", {6: ("bad_record: hand 6 has two ends",)}),
        (
            'hai3="56,60,64"/>',
            "/>",
            {3: ("riichi_noten: player 3 declared riichi and is not tenpai: that is a chombo",)},
        ),
        ('seed="3,0,0,1', 'seed="99,0,0,1', {6: ("bad_record: INIT: there is no hand 99",)}),
        ('ten="186,471,195,148"', 'ten="186,471,195"', {6: ("bad_record: INIT: ten is a list of 4 numbers",)}),
        (
            'fromWho="0" sc="196',
            'fromWho="2" sc="196',
            {5: ("bad_record: hand 5 is won on the tiles of two players",)},
        ),
        (
            'fromWho="0" sc="225,-29,432,39,195,0,138,0"/>',
            'fromWho="1" sc="225,-29,432,39,195,0,138,0"/><AGARI who="1" fromWho="1" yaku="1,1" ten="30,1000,0"/>',
            {5: ("bad_record: hand 5 is won on the tiles of two players",)},
        ),
    ],
)
def test_a_hand_that_differs_is_shown_with_what_differs(old: str, new: str, told: dict[int, tuple[str, ...]]) -> None:
    assert differences((old, new)) == told


def test_without_the_responsible_the_payments_and_the_next_hand_differ() -> None:
    (found,) = differences(('paoWho="0" ', "")).values()
    assert [one.split(" ")[:2] for one in found] == [["pays", "(0,"], ["goes", "on"]]


def test_who_has_no_deposit_left_to_pay_is_shown() -> None:
    poor = ('seed="3,0,0,1,2,0" ten="186,471,195,148"', 'seed="3,0,0,1,2,0" ten="186,471,195,5"')
    again = ('seed="3,1,0,1,2,0" ten="186,471,195,148"', 'seed="3,1,0,1,2,0" ten="186,471,195,5"')
    assert differences(poor, again)[7][0].startswith("riichi_without_points")


def test_two_players_with_fantastic_discards_have_a_tag_each() -> None:
    one = '<RYUUKYOKU type="nm" ba="4,4" sc="176,80,461,-20,185,-20,138,-40" hai3="16"/>'
    other = '<RYUUKYOKU type="nm" ba="4,4" sc="256,-20,441,80,165,-20,98,-40" hai3="16"/>'
    (found,) = differences(
        (one, one + other), ('ten="256,441,165,98" oya="3"', 'ten="236,521,145,58" oya="3"')
    ).values()
    assert found[0].startswith("goes on with S1")  # that hand agrees; the one after it was not changed


def test_an_east_round_alone_is_over_after_it() -> None:
    assert "goes on with the end" in differences(('GO type="9"', 'GO type="1"'))[11][0]


def test_a_record_that_is_cut_is_checked_as_far_as_it_goes() -> None:
    cut = TEXT[: TEXT.index('<INIT seed="4,')] + "</mjloggm>"
    assert [one.differences for one in checked(cut.encode(), TENHOU).hands] == [()] * 11
