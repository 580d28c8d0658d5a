"""The library is asked in its own words, only when a hand is counted, and what it raises is a refusal of ours."""

import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from broker.rules import KINDS, RuleError
from broker.rules.mcr import count_fan, fan
from broker.rules.mcr.fan import shanten_and_useful
from tests.broker.rules.mcr.hands import hand, meld, situation, tiles

BARE = hand("345p 67s 33z", "8s", "123m", "888p")


@pytest.fixture
def _forgotten() -> Iterator[None]:
    fan.mahjong_gb.cache_clear()
    yield
    fan.mahjong_gb.cache_clear()


def test_each_tile_has_its_word_and_back() -> None:
    codes = [fan.code_from_tile(tile) for tile in KINDS]
    honors = ["F1", "F2", "F3", "F4", "J3", "J2", "J1"]
    assert codes == [f"{suit}{rank}" for suit in "WBT" for rank in range(1, 10)] + honors
    assert [fan.tile_from_code(code) for code in codes] == list(KINDS)


@pytest.mark.parametrize(
    ("text", "pack"),
    [
        ("321m", ("CHI", "W2", 1)),
        ("888p", ("PENG", "B8", 1)),
        ("8888s", ("GANG", "T8", 1)),
        ("(5555z)", ("GANG", "J3", 0)),
    ],
)
def test_a_meld_is_told_by_its_middle_tile_and_whether_it_is_concealed(text: str, pack: tuple[str, str, int]) -> None:
    assert fan.pack_from_meld(meld(text)) == pack


def test_importing_the_rules_of_fan_does_not_import_the_library() -> None:
    asked = "import broker.cli.calculators, broker.rules.mcr.fan, sys; print('MahjongGB' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.usefixtures("_forgotten")
def test_a_library_that_is_not_installed_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "MahjongGB", None)
    for ask in (lambda: count_fan(BARE, situation()), lambda: shanten_and_useful(BARE.concealed, BARE.melds)):
        with pytest.raises(RuleError) as refused:
            ask()
        assert refused.value.code == "fan_counter_missing"
        assert refused.value.text.startswith("PyMahjongGB is not installed here: ")


def raising(**_: object) -> object:
    """Refuse a hand as the library does."""
    raise TypeError("ERROR_NOT_WIN")


def of_another_version(**_: object) -> object:
    """Name a fan that there is not."""
    return ((8, 1, "天和", "Blessing of Heaven"),)


@pytest.mark.usefixtures("_forgotten")
@pytest.mark.parametrize("counter", [raising, of_another_version])
def test_a_library_that_fails_is_a_refusal(monkeypatch: pytest.MonkeyPatch, counter: object) -> None:
    fake = SimpleNamespace(MahjongFanCalculator=counter, RegularShanten=raising, KnittedStraightShanten=raising)
    monkeypatch.setitem(sys.modules, "MahjongGB", fake)
    with pytest.raises(RuleError) as refused:
        count_fan(BARE, situation())
    assert refused.value.code == "fan_counter_failed"
    with pytest.raises(RuleError) as refused:
        shanten_and_useful(tiles("123m 345p 67s 33z"), [meld("888p")])
    assert refused.value.code == "fan_counter_failed"
