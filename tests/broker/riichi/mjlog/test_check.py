"""Records counted again: the sample agrees, and each change of it is named. The sample is no game that was played."""

import gzip
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from broker.command import homologue
from broker.riichi.mjlog.check import checked
from broker.rules.errors import RuleError
from broker.rules.riichi.profile_files import load
from tests.broker.contract.laws import LAW

SAMPLE: Final = Path(__file__).with_name("sample.mjlog")
TEXT: Final = SAMPLE.read_text(encoding="ascii")
TENHOU: Final = load("riichi-tenhou")


def differences(old: str, new: str) -> dict[int, tuple[str, ...]]:
    """Change one thing in the sample and give what differs, by the number of the win."""
    assert TEXT.count(old) == 1
    found = checked(TEXT.replace(old, new).encode(), TENHOU)
    return {one.number: one.differences for one in found if one.differences}


def test_every_win_of_the_sample_agrees() -> None:
    assert [(one.number, one.differences) for one in checked(TEXT.encode(), TENHOU)] == [
        (number, ()) for number in range(1, 5)
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('ten="30,7700,0"', 'ten="40,7700,0"', {1: ("30 fu, in the record 40",)}),
        ('ten="30,7700,0"', 'ten="30,8000,0"', {1: ("7700 points, in the record 8000",)}),
        (
            'yaku="20,1"',
            'yaku="20,1,52,1"',
            {3: ("yaku yakuhai_red 1, in the record yakuhai_red 1, dora 1",)},
        ),
        ('yaku="20,1"', 'yaku="55,1"', {3: ("bad_record: no yaku has the number 55",)}),
        (
            "210,-16,447,0",
            "210,-10,447,0",
            {3: ("payments (-1600, 0, 1600, 0), in the record (-1000, 0, 1600, 0)",)},
        ),
        ('yakuman="39"', 'yakuman="40"', {4: ("yaku daisangen 13, in the record suuankou 13",)}),
        ('machi="12"', 'machi="13"', {3: ("bad_record: win 3: the winning tile is not in the hand",)}),
        ('ba="2,0"', 'ba="2"', {3: ("bad_record: AGARI: ba is two numbers",)}),
    ],
)
def test_a_win_that_differs_is_shown_with_what_differs(old: str, new: str, told: dict[int, tuple[str, ...]]) -> None:
    assert differences(old, new) == told


def test_a_hand_that_the_rules_refuse_is_shown_with_the_code() -> None:
    ((code, *_),) = (one.split(":") for one in differences('hai="4,8,12,56,60,64,76', 'hai="36,8,12,56,60,64,76')[1])
    assert code == "not_winning"


def test_a_responsible_player_pays_what_only_a_replay_could_tell() -> None:
    assert (
        differences('fromWho="0" sc="194,320,447,-160,226,-80', 'fromWho="0" paoWho="1" sc="194,320,447,-320,226,0')
        == {}
    )


def test_the_kind_of_game_says_whether_fives_are_red_and_tanyao_may_be_open() -> None:
    assert list(differences('type="9"', 'type="11"')) == [2]  # without red fives


def test_a_game_of_three_is_refused() -> None:
    with pytest.raises(RuleError) as refused:
        list(checked(TEXT.replace('type="9"', 'type="25"').encode(), TENHOU))
    assert refused.value.code == "bad_record"


def test_a_win_before_the_first_hand_is_refused() -> None:
    win = TEXT[TEXT.index("<AGARI") : TEXT.index('<INIT seed="1,')]
    assert [one.differences for one in checked(f"<mjloggm>{win}</mjloggm>".encode(), TENHOU)] == [
        ("bad_record: a win before the first hand",)
    ]


def test_the_command_says_how_many_agree(tmp_path: Path) -> None:
    packed = tmp_path / "packed.mjlog.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    told = CliRunner().invoke(homologue, ["riichi", "check", str(SAMPLE), str(packed)])
    assert (told.exit_code, told.stdout) == (0, "8 of 8 wins agree\n")


def test_the_command_names_the_others_and_files_that_it_cannot_read(tmp_path: Path) -> None:
    changed, other = tmp_path / "changed.mjlog", tmp_path / "other.txt"
    changed.write_text(TEXT.replace('ten="30,7700,0"', 'ten="40,7700,0"'), encoding="ascii")
    other.write_text("no record", encoding="ascii")
    told = CliRunner().invoke(homologue, ["riichi", "check", str(changed), str(other), str(tmp_path / "gone")])
    assert told.exit_code == 1
    assert told.stdout.splitlines()[0] == "changed.mjlog: win 1: 30 fu, in the record 40"
    assert [line.split(": ")[:2] for line in told.stdout.splitlines()[1:3]] == [
        ["other.txt", "not_a_record"],
        ["gone", "not_a_record"],
    ]
    assert told.stdout.splitlines()[3] == "3 of 4 wins agree; 2 files not read"


@LAW
@given(st.integers(0, len(TEXT) - 1), st.characters(min_codepoint=32, max_codepoint=126))
def test_a_record_with_one_letter_changed_is_checked_or_refused(at: int, letter: str) -> None:
    changed = TEXT[:at] + letter + TEXT[at + 1 :]
    try:
        assert len(list(checked(changed.encode(), TENHOU))) <= 4
    except RuleError as problem:
        assert problem.code in {"not_a_record", "bad_record"}  # noqa: PT017 - both ends are right
