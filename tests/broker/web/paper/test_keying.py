"""Blind double keying: readings that agree count; an arbiter settles differences with a reason."""

import re
from collections.abc import Iterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.rules import RuleError
from broker.rulings.paper import keyed_of, sheet_of
from broker.web.paper.keying import Keying, body_of, keyed_from, open_readings, reading_differences
from tests.broker.web.paper.conftest import EVENT, Desk
from tests.broker.web.paper.test_views import SAYS, send
from tests.broker.web.test_auth import logged_in


def says(table: int, **other: str) -> dict[str, str]:
    """Return the form fields of a sheet of the first round."""
    return {**SAYS, "table": str(table), "deal": str(EVENT.bookings[table, 1].deal), **other}


WRONG = {"east": "17", "points_east": "+41", "points_north": "-25"}
"""Fields with an 8 misread as a 7; hand value and points agree with each other."""


@pytest.fixture(scope="module")
def tao(desk: Desk) -> Iterator[httpx.Client]:
    with logged_in(desk.server, "tao") as client:
        yield client


@pytest.fixture(scope="module")
def luc(desk: Desk) -> Iterator[httpx.Client]:
    with logged_in(desk.server, "luc") as client:
        yield client


def test_a_sheet_counts_once_two_people_have_keyed_the_same(desk: Desk, tao: httpx.Client, luc: httpx.Client) -> None:
    assert "waiting for a second person" in send(tao, action="keep", **says(1)).text
    assert desk.settled(1) is False
    assert "both entries agree; it counts now" in send(luc, action="keep", **says(1)).text
    assert (desk.settled(1), desk.reasons(1)) == (True, ["paper sheet, keyed by Tao and by Luc"])
    assert desk.noted(1) == [("tao", "sheet_keyed", ""), ("luc", "sheet_keyed", "")]
    assert "already there, with the same result" in send(tao, action="keep", **says(1)).text


def test_the_second_persons_page_does_not_depend_on_the_first_reading(tao: httpx.Client, luc: httpx.Client) -> None:
    seen = []
    for other in ({}, WRONG, {"fine_north": "4"}):
        send(tao, action="keep", **says(4, **other))
        seen.append([luc.get(path).text for path in ("/paper", "/paper?round=1&table=4")])
    send(tao, action="take_back", table="4", round="1")
    assert seen[0] == seen[1] == seen[2]


def test_keying_twice_replaces_ones_own_reading(desk: Desk, tao: httpx.Client, luc: httpx.Client) -> None:
    send(tao, action="keep", **says(2, **WRONG))
    assert "waiting for a second person" in send(tao, action="keep", **says(2)).text
    assert desk.settled(2) is False
    send(luc, action="keep", **says(2))
    assert desk.settled(2) is True


def settle(client: httpx.Client, table: int, **wish: str) -> httpx.Response:
    """Send the form of a difference with the numbers shown on the page."""
    page = client.get("/paper").text
    card = page[page.index(f'id="differs-{table}-1"') :]
    found = {name: re.search(f'name="{name}" value="([0-9]+)"', card) for name in ("one", "other")}
    numbers = {name: match[1] for name, match in found.items() if match}
    chosen = {"chosen": numbers.get(wish.pop("which"), "0")}
    return send(client, action="settle", table=str(table), round="1", **numbers, **chosen, **wish)


def test_differing_readings_are_locked_until_an_arbiter_settles_them(
    desk: Desk, tao: httpx.Client, luc: httpx.Client
) -> None:
    send(tao, action="keep", **says(3, **WRONG))
    assert "the two entries differ" in send(luc, action="keep", **says(3)).text
    for client in (tao, luc):
        assert "keyings_differ" in send(client, action="keep", **says(3)).text
        assert "keyings_differ" in send(client, action="take_back", table="3", round="1").text
    assert desk.settled(3) is False
    with logged_in(desk.server, "anne") as anne:
        assert settle(anne, 3, which="other", reason=" ").status_code == 400
        assert "it counts now" in settle(anne, 3, which="other", reason="an 8: the sheet is here").text
    played = desk.scorer.ask(lambda: desk.scorer.rulings.room.play((3, 1)))
    assert (played.winners, desk.reasons(3)) == ({"east": 18}, ["an 8: the sheet is here"])


def test_both_readings_can_be_set_aside_and_keyed_again(desk: Desk, tao: httpx.Client, luc: httpx.Client) -> None:
    send(tao, action="keep", **says(4, **WRONG))
    send(luc, action="keep", **says(4))
    stale = settle(luc, 4, which="neither", reason="a coffee stain: ask the table")
    assert (stale.status_code, desk.settled(4)) == (200, False)
    again = send(luc, action="settle", table="4", round="1", one="1", other="2", chosen="1", reason="late")
    assert "keying_gone" in again.text
    assert desk.noted(4)[-2:] == [("luc", "keying_set_aside", "a coffee stain: ask the table")] * 2
    assert "waiting for a second person" in send(tao, action="keep", **says(4)).text
    assert "keying_gone" in send(luc, action="take_back", table="4", round="1").text
    assert send(tao, action="take_back", table="4", round="1").status_code == 200
    assert "waiting for a second person" in send(luc, action="keep", **says(4)).text


def keying(number: int, whose: str, body: bytes, after: str = "") -> Keying:
    return Keying(number=number, at=0, who=whose, whose=whose, round=1, table=3, after=after, body=body)


def test_readings_older_than_the_last_entry_do_not_count() -> None:
    kept = [keying(1, "tao", b"a"), keying(2, "luc", b"a", "ruling-1"), keying(3, "tao", b"b", "undo-2")]
    assert [len(open_readings(kept, (3, 1), after).current) for after in (None, "ruling-1", "undo-2", "other")] == [
        1,
        1,
        1,
        0,
    ]
    assert open_readings(kept, (3, 2), None).current == ()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([b"x", b"y", b""])), max_size=8))
def test_only_a_different_person_can_agree_and_no_third_one_decides(
    tries: list[tuple[str, bytes]],
) -> None:
    kept: list[Keying] = []
    for whose, body in tries:
        known = open_readings(kept, (3, 1), None)
        if body and not known.differ:
            others = {one.body for one in known.current if one.whose != whose}
            assert (known.judge(whose, body) == "agrees") == (body in others)
            if body in others:
                return
        if known.differ:
            with pytest.raises(RuleError) as refused:
                known.judge(whose, body)
            assert refused.value.code == "keyings_differ"
            return
        kept.append(keying(len(kept) + 1, whose, body))
        assert len(open_readings(kept, (3, 1), None).current) <= 2


def test_a_reading_round_trips_and_omitted_points_make_no_difference() -> None:
    full = sheet_of(keyed_of({**says(3), "fine_north": "4"}), EVENT)
    sparse = sheet_of(replace(full.keyed, points={}), EVENT)
    assert body_of(full) == body_of(sparse)
    assert sheet_of(keyed_from(body_of(sparse)), EVENT).decision == full.decision


def test_differences_are_listed_by_seat_and_field() -> None:
    one, other = keyed_from(body_of(sheet_of(keyed_of(says(3)), EVENT))), keyed_of(says(3, win="draw"))
    assert reading_differences(one, replace(one, winners={"east": 17}, fines={"north": 4})) == [
        "east winners",
        "north fines",
    ]
    assert reading_differences(one, replace(other, winners=one.winners, points=one.points, discarder=None)) == [
        "win",
        "discarder",
    ]
