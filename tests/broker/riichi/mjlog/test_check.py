"""Records counted again: the sample agrees, and each change of it is named."""

import gzip
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from broker.command import homologue
from broker.riichi.mjlog.record import checked
from broker.rules.errors import RuleError
from broker.rules.riichi.profile_files import load

SAMPLE: Final = Path(__file__).with_name("sample.mjlog")
TEXT: Final = SAMPLE.read_text(encoding="ascii")
TENHOU: Final = load("riichi-tenhou")


def differences(old: str, new: str) -> dict[int, tuple[str, ...]]:
    """Change one thing in the sample and give what differs, by the number of the win."""
    assert old in TEXT
    found = checked(TEXT.replace(old, new, 1).encode(), TENHOU).wins
    return {one.number: one.differences for one in found if one.differences}


def test_every_win_of_the_sample_agrees() -> None:
    assert [(one.number, one.differences) for one in checked(TEXT.encode(), TENHOU).wins] == [
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
        ('ba="3,1" hai', 'ba="3" hai', {3: ("bad_record: AGARI: ba is a list of 2 numbers",)}),
    ],
)
def test_a_win_that_differs_is_shown_with_what_differs(old: str, new: str, told: dict[int, tuple[str, ...]]) -> None:
    assert differences(old, new) == told


def test_a_hand_that_the_rules_refuse_is_shown_with_the_code() -> None:
    ((code, *_),) = (one.split(":") for one in differences('hai="4,8,12,56,60,64,76', 'hai="36,8,12,56,60,64,76')[1])
    assert code == "not_winning"


def test_the_kind_of_game_says_whether_fives_are_red_and_tanyao_may_be_open() -> None:
    assert list(differences('type="9"', 'type="11"')) == [2]  # without red fives


def test_a_game_of_three_is_refused() -> None:
    with pytest.raises(RuleError) as refused:
        checked(TEXT.replace('type="9"', 'type="25"').encode(), TENHOU)
    assert refused.value.code == "bad_record"


def test_a_win_before_the_first_hand_is_refused() -> None:
    win = TEXT[TEXT.index("<AGARI") : TEXT.index('<INIT seed="1,')]
    assert [one.differences for one in checked(f"<mjloggm>{win}</mjloggm>".encode(), TENHOU).wins] == [
        ("bad_record: a win before the first hand",)
    ]


def test_the_command_says_how_many_agree(tmp_path: Path) -> None:
    packed = tmp_path / "packed.mjlog.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    told = CliRunner().invoke(homologue, ["riichi", "check", str(SAMPLE), str(packed)])
    assert (told.exit_code, told.stdout) == (
        0,
        "14 of 14 wins agree; 30 of 30 hands pay and go on as in the record\n",
    )


def test_the_command_names_the_others_and_files_that_it_cannot_read(tmp_path: Path) -> None:
    changed, other = tmp_path / "changed.mjlog", tmp_path / "other.txt"
    changed.write_text(TEXT.replace('yaku="7,1,8,1"', 'yaku="7,1,9,1"'), encoding="ascii")
    other.write_text("no record", encoding="ascii")
    told = CliRunner().invoke(homologue, ["riichi", "check", str(changed), str(other), str(tmp_path / "gone")])
    assert told.exit_code == 1
    lines = told.stdout.splitlines()
    assert lines[0] == "changed.mjlog: win 3: yaku pinfu 1, tanyao 1, in the record pinfu 1, iipeikou 1"
    assert [line.split(": ")[:2] for line in lines[1:3]] == [["other.txt", "not_a_record"], ["gone", "not_a_record"]]
    assert lines[3:] == ["6 of 7 wins agree; 15 of 15 hands pay and go on as in the record; 2 files not read"]


def test_the_command_names_the_hands_that_go_on_otherwise(tmp_path: Path) -> None:
    changed = tmp_path / "changed.mjlog"
    changed.write_text(TEXT.replace("506,51.0", "496,51.0"), encoding="ascii")
    told = CliRunner().invoke(homologue, ["riichi", "check", str(changed)])
    ends = "ends with (14500, 26100, 8800, 50600), in the record with (14500, 26100, 8800, 49600)"
    assert (told.exit_code, told.stdout.splitlines()) == (
        1,
        [f"changed.mjlog: hand 15: {ends}", "7 of 7 wins agree; 14 of 15 hands pay and go on as in the record"],
    )


@given(st.integers(0, len(TEXT) - 1), st.characters(min_codepoint=32, max_codepoint=126))
def test_a_record_with_one_letter_changed_is_checked_or_refused(at: int, letter: str) -> None:
    changed = TEXT[:at] + letter + TEXT[at + 1 :]
    try:
        assert len(checked(changed.encode(), TENHOU).hands) <= 16
    except RuleError as problem:
        assert problem.code in {"not_a_record", "bad_record"}  # noqa: PT017 - both ends are right
