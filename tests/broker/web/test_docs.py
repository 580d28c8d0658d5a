"""The documentation lists the desk's states and errors."""

import re
from pathlib import Path

from broker.web.errors import AddressRefused, DeskError, DeskPortTaken, DeskStartFailed
from broker.web.labels import STATE
from broker.web.render import SIGNS

ROOT = Path(__file__).parents[3]
ROW = re.compile(r"^\| \*\*(?P<word>[^*]+)\*\* \| (?P<shape>[^|]+) \| (?P<tone>[^|]+) \|", re.MULTILINE)


def arbiter() -> str:
    return (ROOT / "docs" / "arbiter.md").read_text(encoding="utf-8")


def test_the_documented_states_match_those_of_the_desk() -> None:
    assert [row.groups() for row in ROW.finditer(arbiter())] == [
        (STATE[state], sign.shape, sign.tone) for state, sign in SIGNS.items()
    ]


def test_the_readme_lists_every_error_code() -> None:
    readme = (ROOT / "broker" / "web" / "README.md").read_text(encoding="utf-8")
    codes = [error.code for error in (DeskError, DeskPortTaken, AddressRefused, DeskStartFailed)]
    assert [code for code in codes if f"`{code}`" not in readme] == []
