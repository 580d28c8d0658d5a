"""Wins and hands of a record are recomputed: the sample agrees, and every change of it is found."""

import gzip
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from broker.cli.main import homologue
from broker.cli.mjlog.check import check_mjlog, checked_hands
from broker.cli.mjlog.hands import MjlogHand, mjlog_hands
from broker.cli.mjlog.notation import tags_of
from broker.rules import RuleError, load_riichi
from broker.rules.riichi import Abort, ExhaustiveDraw, Ron, Tsumo

SAMPLE: Final = Path(__file__).with_name("sample.mjlog")
TEXT: Final = SAMPLE.read_text(encoding="ascii")
TENHOU: Final = load_riichi("riichi-tenhou")


def differences(old: str, new: str) -> dict[int, tuple[str, ...]]:
    """Change one thing in the sample; return the differences by the number of the win."""
    assert old in TEXT
    found = check_mjlog(TEXT.replace(old, new, 1).encode(), TENHOU).wins
    return {one.number: one.differences for one in found if one.differences}


def test_every_win_of_the_sample_agrees() -> None:
    assert [(one.number, one.differences) for one in check_mjlog(TEXT.encode(), TENHOU).wins] == [
        (number, ()) for number in range(1, 8)
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('ten="30,7700,0"', 'ten="40,7700,0"', {1: ("30 fu, in the record 40",)}),
        ('ten="30,7700,0"', 'ten="30,8000,0"', {1: ("7700 points, in the record 8000",)}),
        (
            'yaku="20,1"',
            'yaku="20,1,52,1"',
            {4: ("yaku yakuhai_red 1, in the record yakuhai_red 1, dora 1",)},
        ),
        ('yaku="20,1"', 'yaku="55,1"', {4: ("bad_record: no yaku has the number 55",)}),
        (
            "281,-10,165,10",
            "281,-16,165,16",
            {6: ("payments (0, -1000, 1000, 0), in the record (0, -1600, 1600, 0)",)},
        ),
        ('yakuman="39"', 'yakuman="40"', {5: ("yaku daisangen 13, in the record suuankou 13",)}),
        ('machi="12"', 'machi="13"', {3: ("bad_record: win 3: the winning tile is not in the hand",)}),
        ('hai="5,9,12,57', 'hai="5,5,12,57', {3: ("bad_record: win 3: one tile is in the hand twice",)}),
        ('ba="3,1" hai', 'ba="3" hai', {3: ("bad_record: AGARI: ba must be a list of 2 numbers",)}),
    ],
)
def test_the_differences_of_a_win_are_listed(old: str, new: str, told: dict[int, tuple[str, ...]]) -> None:
    assert differences(old, new) == told


def test_a_hand_that_the_rules_refuse_has_their_error_code() -> None:
    ((code, *_),) = (one.split(":") for one in differences('hai="4,8,12,56,60,64,76', 'hai="36,8,12,56,60,64,76')[1])
    assert code == "not_winning"


def test_the_type_of_game_determines_red_fives_and_open_tanyao() -> None:
    assert list(differences('type="9"', 'type="11"')) == [2]  # without red fives


def test_a_game_of_three_is_refused() -> None:
    with pytest.raises(RuleError) as refused:
        check_mjlog(TEXT.replace('type="9"', 'type="25"').encode(), TENHOU)
    assert refused.value.code == "bad_record"


def test_a_win_before_the_first_hand_is_refused() -> None:
    win = TEXT[TEXT.index("<AGARI") : TEXT.index('<INIT seed="1,')]
    assert [one.differences for one in check_mjlog(f"<mjloggm>{win}</mjloggm>".encode(), TENHOU).wins] == [
        ("bad_record: a win before the first hand",)
    ]


def test_the_command_counts_the_wins_and_hands_that_agree(tmp_path: Path) -> None:
    packed = tmp_path / "packed.mjlog.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    told = CliRunner().invoke(homologue, ["riichi", "check", str(SAMPLE), str(packed)])
    assert (told.exit_code, told.stdout) == (
        0,
        "14 of 14 wins and 30 of 30 hands agree with the records\n",
    )


def test_the_command_lists_differing_wins_and_unreadable_files(tmp_path: Path) -> None:
    changed, other = tmp_path / "changed.mjlog", tmp_path / "other.txt"
    changed.write_text(TEXT.replace('yaku="7,1,8,1"', 'yaku="7,1,9,1"'), encoding="ascii")
    other.write_text("no record", encoding="ascii")
    told = CliRunner().invoke(homologue, ["riichi", "check", str(changed), str(other)])
    assert told.exit_code == 1
    lines = told.stdout.splitlines()
    assert lines[0] == "changed.mjlog: win 3: yaku pinfu 1, tanyao 1, in the record pinfu 1, iipeikou 1"
    assert [line.split(": ")[:2] for line in lines[1:2]] == [["other.txt", "not_a_record"]]
    assert lines[2:] == ["6 of 7 wins and 15 of 15 hands agree with the records; 1 file not read"]


def test_the_command_lists_differing_hands(tmp_path: Path) -> None:
    changed = tmp_path / "changed.mjlog"
    changed.write_text(TEXT.replace("506,51.0", "496,51.0"), encoding="ascii")
    told = CliRunner().invoke(homologue, ["riichi", "check", str(changed)])
    ends = "ends with (14500, 26100, 8800, 50600), in the record with (14500, 26100, 8800, 49600)"
    assert (told.exit_code, told.stdout.splitlines()) == (
        1,
        [f"changed.mjlog: hand 15: {ends}", "7 of 7 wins and 14 of 15 hands agree with the records"],
    )


@given(st.integers(0, len(TEXT) - 1), st.characters(min_codepoint=32, max_codepoint=126))
def test_a_record_with_one_changed_letter_is_checked_or_refused(at: int, letter: str) -> None:
    changed = TEXT[:at] + letter + TEXT[at + 1 :]
    try:
        assert len(check_mjlog(changed.encode(), TENHOU).hands) <= 16
    except RuleError as problem:
        assert problem.code in {"not_a_record", "bad_record"}  # noqa: PT017 - either outcome is correct


SAMPLE_TEXT: Final = Path(__file__).with_name("sample.mjlog").read_text(encoding="ascii")


def hand_differences(*changes: tuple[str, str]) -> dict[int, tuple[str, ...]]:
    """Change the sample; return the differences by the number of the hand."""
    text = SAMPLE_TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return {one.number: one.differences for one in checked_hands(tags_of(text.encode()), TENHOU) if one.differences}


def test_every_hand_of_the_sample_agrees() -> None:
    assert check_mjlog(SAMPLE_TEXT.encode(), TENHOU).hands[-1].number == 15
    assert hand_differences() == {}


def test_the_sample_has_every_way_a_hand_can_end() -> None:
    events = [hand.event() for hand in mjlog_hands(tags_of(SAMPLE_TEXT.encode())) if isinstance(hand, MjlogHand)]
    assert {one.reason for one in events if isinstance(one, Abort)} == {*TENHOU.session.draw.aborts.value}
    assert [len(one.wins) for one in events if isinstance(one, Ron)] == [1, 2, 1, 1, 1]
    assert [one.wins[0].responsible for one in events if isinstance(one, Ron)] == [None, None, 0, None, None]
    assert len([one for one in events if isinstance(one, Tsumo)]) == 1
    assert [one.nagashi for one in events if isinstance(one, ExhaustiveDraw)] == [(), (0,), (), ()]


E3 = "E3, {} counters, 1 deposits, (22500, 43200, 19500, 13800)"
CONTINUES = "continues with {}, in the record with {}"


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
                3: (CONTINUES.format(E3.format(2), E3.format(1)),),
                4: (
                    "1 counters and 1 deposits, in the record 2 and 1",
                    CONTINUES.format(E3.format(2), E3.format(3)),
                ),
            },
        ),
        (
            "506,51.0",
            "496,51.0",
            {15: ("ends with (14500, 26100, 8800, 50600), in the record with (14500, 26100, 8800, 49600)",)},
        ),
        ('type="kaze4"', 'type="wind4"', {6: ("bad_record: 'wind4' is not a way in which a hand can end",)}),
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
        ('ten="186,471,195,148"', 'ten="186,471,195"', {6: ("bad_record: INIT: ten must be a list of 4 numbers",)}),
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
def test_the_differences_of_a_hand_are_listed(old: str, new: str, told: dict[int, tuple[str, ...]]) -> None:
    assert hand_differences((old, new)) == told


def test_without_the_responsible_player_payments_and_the_next_hand_differ() -> None:
    (found,) = hand_differences(('paoWho="0" ', "")).values()
    assert [one.split(" ")[:2] for one in found] == [["pays", "(0,"], ["continues", "with"]]


def test_a_riichi_of_a_player_without_points_is_reported() -> None:
    poor = ('seed="3,0,0,1,2,0" ten="186,471,195,148"', 'seed="3,0,0,1,2,0" ten="186,471,195,5"')
    again = ('seed="3,1,0,1,2,0" ten="186,471,195,148"', 'seed="3,1,0,1,2,0" ten="186,471,195,5"')
    assert hand_differences(poor, again)[7][0].startswith("riichi_without_points")


def test_two_players_with_nagashi_mangan_have_a_tag_each() -> None:
    one = '<RYUUKYOKU type="nm" ba="4,4" sc="176,80,461,-20,185,-20,138,-40" hai3="16"/>'
    other = '<RYUUKYOKU type="nm" ba="4,4" sc="256,-20,441,80,165,-20,98,-40" hai3="16"/>'
    (found,) = hand_differences(
        (one, one + other), ('ten="256,441,165,98" oya="3"', 'ten="236,521,145,58" oya="3"')
    ).values()
    assert found[0].startswith("continues with S1")  # the hand agrees; the next one in the sample is unchanged


def test_an_east_only_game_ends_after_the_east_round() -> None:
    assert "continues with the end" in hand_differences(('GO type="9"', 'GO type="1"'))[11][0]


def test_a_truncated_record_is_checked_as_far_as_it_goes() -> None:
    cut = SAMPLE_TEXT[: SAMPLE_TEXT.index('<INIT seed="4,')] + "</mjloggm>"
    assert [one.differences for one in check_mjlog(cut.encode(), TENHOU).hands] == [()] * 11
