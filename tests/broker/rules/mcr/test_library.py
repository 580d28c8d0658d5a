"""The library gets its own codes, is imported only to count, and its errors become our refusals."""

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
def _library_not_loaded() -> Iterator[None]:
    fan.mahjong_gb.cache_clear()
    yield
    fan.mahjong_gb.cache_clear()


def test_tiles_are_converted_to_library_codes_and_back() -> None:
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
def test_a_meld_is_passed_as_its_middle_tile_and_whether_it_is_melded(text: str, pack: tuple[str, str, int]) -> None:
    assert fan.pack_from_meld(meld(text)) == pack


def test_importing_the_rules_of_fan_does_not_import_the_library() -> None:
    program = "import broker.cli.calculators, broker.rules.mcr.fan, sys; print('MahjongGB' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.usefixtures("_library_not_loaded")
def test_a_missing_library_is_refused_with_an_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "MahjongGB", None)
    for ask in (lambda: count_fan(BARE, situation()), lambda: shanten_and_useful(BARE.concealed, BARE.melds)):
        with pytest.raises(RuleError) as refused:
            ask()
        assert refused.value.code == "fan_counter_missing"
        assert refused.value.text.startswith("PyMahjongGB is not installed here: ")


def raising(**_: object) -> object:
    """Raise the library's error for a hand that does not win."""
    raise TypeError("ERROR_NOT_WIN")


def counting_unknown_fan(**_: object) -> object:
    """Return a fan with an unknown name."""
    return ((8, 1, "天和", "Blessing of Heaven"),)


@pytest.mark.usefixtures("_library_not_loaded")
@pytest.mark.parametrize("counter", [raising, counting_unknown_fan])
def test_a_failing_library_is_reported_as_a_refusal(monkeypatch: pytest.MonkeyPatch, counter: object) -> None:
    fake = SimpleNamespace(MahjongFanCalculator=counter, RegularShanten=raising, KnittedStraightShanten=raising)
    monkeypatch.setitem(sys.modules, "MahjongGB", fake)
    with pytest.raises(RuleError) as refused:
        count_fan(BARE, situation())
    assert refused.value.code == "fan_counter_failed"
    with pytest.raises(RuleError) as refused:
        shanten_and_useful(tiles("123m 345p 67s 33z"), [meld("888p")])
    assert refused.value.code == "fan_counter_failed"
