"""Plays that are read quickly: a plan is what a reader of TOML makes of it, however it is written."""

import tomllib
from collections.abc import Callable

import msgspec
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.event import BookedPlay, Plan, decode_plan, decode_plays
from broker.protocol import Session
from tests.broker.scorer.small import plan

SESSION = Session(name="Morning", first_round=1, last_round=4)

WHOLE = replace(
    plan(), players=plan().players[:4], plays=plan().plays[:4], sessions=(SESSION,), teams={"A": ("1", "2", "3", "4")}
)

TEXT = tomli_w.dumps(msgspec.to_builtins(WHOLE))

LINES = TEXT.splitlines(keepends=True)

ODD = (
    "\n",
    "# a remark\n",
    "  \t\n",
    "round = 7\n",
    "deal = 01\n",
    "deal = 10000\n",
    "table = 0x10\n",
    'east = "a b"\n',
    'east = "p\\u0030"\n',
    'more = """\n',
    "'''\n",
    "[[plays]]\n",
    "[plays]\n",
    "[plays.players]\n",
    "[[ plays ]]\n",
    '[["plays"]]\n',
    "plays = []\n",
    "[teams]\n",
    "[[sessions]]\n",
    "starts = 2026-10-01T09:00:00\n",
    "riichi = [\n",
    "\r\n",
    "\f\n",
)
"""What somebody may write between two lines, or a damaged file may hold."""


def told(text: str, read: Callable[..., Plan] = decode_plan) -> tuple[Plan | None, str]:
    try:
        return read(text.encode(), type=Plan), ""
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return None, f"{type(error).__name__}: {error}"


def as_toml(text: str) -> tuple[Plan | None, str]:
    return told(text, msgspec.toml.decode)


def quickly(text: str) -> int:
    """How many plays were not left to the reader of TOML."""
    return len(decode_plays(text.encode(), BookedPlay)[1])


def test_a_plan_that_was_saved_has_all_its_plays_read_quickly() -> None:
    assert (quickly(TEXT), told(TEXT)) == (len(WHOLE.plays), (WHOLE, ""))


def test_a_plan_written_in_another_way_is_what_toml_makes_of_it() -> None:
    ways = st.sampled_from(["put", "drop", "swap", "again"])
    edits = st.tuples(st.integers(0, len(LINES) - 1), ways, st.sampled_from(ODD))

    @given(st.lists(edits, min_size=1, max_size=3))
    def law(changes: list[tuple[int, str, str]]) -> None:
        lines = [*LINES]
        for at, what, odd in changes:
            at %= len(lines)  # noqa: PLW2901 - lines may be gone
            lines[at : at + 2] = {
                "put": [odd, *lines[at : at + 2]],
                "drop": lines[at + 1 : at + 2],
                "swap": lines[at : at + 2][::-1],
                "again": [*lines[at : at + 2], lines[at]],
            }[what]
        text = "".join(lines)
        assert told(text) == as_toml(text)

    law()


def test_every_line_may_be_damaged() -> None:
    for at in range(len(LINES)):
        for odd in ODD:
            text = "".join([*LINES[:at], odd, *LINES[at:]])
            assert told(text) == as_toml(text), (at, odd)


def test_plays_before_a_remark_are_read_quickly_and_those_after_it_stand_in_their_order() -> None:
    first = TEXT.index("[[plays]]", TEXT.index("[[plays]]") + 1)
    text = f"{TEXT[:first]}# moved by the organiser\n{TEXT[first:]}"
    assert (quickly(text), told(text)) == (1, (WHOLE, ""))


def test_a_text_that_looks_like_plays_is_none() -> None:
    text = f'title = """\n{tomli_w.dumps({"plays": msgspec.to_builtins(WHOLE.plays[:1])})}"""\n'
    assert decode_plays(text.encode(), BookedPlay) == (tomllib.loads(text), [])
