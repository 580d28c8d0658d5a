"""The head arbiter's page tells the states and the banners as the desk shows them."""

import re
from pathlib import Path

import pytest

from broker.web import SIGNS, AddressRefused, DeskError, DeskPortTaken, DeskStartFailed
from broker.web.labels import STATE

ROOT = Path(__file__).parents[3]
ROW = re.compile(r"^\| \*\*(?P<word>[^*]+)\*\* \| (?P<shape>[^|]+) \| (?P<tone>[^|]+) \|", re.MULTILINE)


def arbiter() -> str:
    return (ROOT / "docs" / "arbiter.md").read_text(encoding="utf-8")


def test_the_list_of_states_is_the_desks() -> None:
    assert [row.groups() for row in ROW.finditer(arbiter())] == [
        (STATE[state], sign.shape, sign.tone) for state, sign in SIGNS.items()
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Connection to the scorer lost. Showing data as of {time}; it may be out of date. Reconnecting automatically.",
        "Live again since {time}.",
        "The scorer has no connection to the broker. Tables keep their messages and send them later.",
        "Without JavaScript this page does not update live; it reloads every 30 seconds.",
    ],
)
def test_every_banner_is_quoted(text: str) -> None:
    assert text.format(time="14:03:20") in " ".join(arbiter().replace("\n>", " ").split())


def test_every_error_is_in_the_readme_by_its_code() -> None:
    readme = (ROOT / "broker" / "web" / "README.md").read_text(encoding="utf-8")
    codes = [error.code for error in (DeskError, DeskPortTaken, AddressRefused, DeskStartFailed)]
    assert [code for code in codes if f"`{code}`" not in readme] == []
