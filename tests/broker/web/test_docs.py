"""The head arbiter's page tells the states and the banners as the desk shows them."""

import re
from pathlib import Path

import pytest

from broker.web import SIGNS, AddressRefused, DeskError, DeskPortTaken, DeskStartFailed, catalogues

ROOT = Path(__file__).parents[3]
ROW = re.compile(r"^\| \*\*(?P<word>[^*]+)\*\* \| (?P<shape>[^|]+) \| (?P<tone>[^|]+) \|", re.MULTILINE)


def arbiter() -> str:
    return (ROOT / "docs" / "arbiter.md").read_text(encoding="utf-8")


def test_the_list_of_states_is_the_desks() -> None:
    words = catalogues()["en"].sentences
    assert [row.groups() for row in ROW.finditer(arbiter())] == [
        (words[f"state_{state}"], sign.shape, sign.tone) for state, sign in SIGNS.items()
    ]


@pytest.mark.parametrize("key", ["banner_lost", "banner_again", "banner_unplugged", "banner_still"])
def test_every_banner_is_quoted(key: str) -> None:
    sentence = catalogues()["en"].sentences[key].format(time="14:03:20")
    assert sentence in " ".join(arbiter().replace("\n>", " ").split())


def test_every_error_is_in_the_readme_by_its_code() -> None:
    readme = (ROOT / "broker" / "web" / "README.md").read_text(encoding="utf-8")
    codes = [error.code for error in (DeskError, DeskPortTaken, AddressRefused, DeskStartFailed)]
    assert [code for code in codes if f"`{code}`" not in readme] == []
