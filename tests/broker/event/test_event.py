"""An event's folder: what is saved is read unchanged, secrets stay secret, and every problem is reported."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.errors import BadEvent
from broker.event import (
    DEALS,
    EVENT,
    MOVEMENT,
    PROFILE,
    SETS,
    DealRecord,
    Event,
    Plan,
    Registry,
    open_event,
    save_event,
)
from broker.protocol import SEATS, Assignment, Player, Session, decode_on_topic
from broker.rules import FULL_SET, KINDS, Profile, form_hash, mcr_folder
from broker.scorer import EventState
from tests.broker.scorer.hall import publisher
from tests.broker.scorer.small import deals, event, plan, registry


def same(one: Event, other: Event) -> bool:
    return (one.plan, one._deals, one._orders) == (other.plan, other._deals, other._orders)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_saved_event_is_read_unchanged(tmp_path: Path) -> None:
    save_event(tmp_path / "cups" / "one", plan(), deals(), registry())
    assert same(open_event(tmp_path / "cups" / "one"), event())


def test_names_may_be_in_any_script(tmp_path: Path) -> None:
    @given(
        st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20), min_size=16, max_size=16)
    )
    def law(names: list[str]) -> None:
        players = tuple(Player(id=f"p{number:02}", name=name) for number, name in enumerate(names, 1))
        named = replace(plan(), title=names[0], players=players)
        save_event(tmp_path, named, deals(), registry())
        assert open_event(tmp_path).plan == named

    law()


def test_only_the_owner_can_read_faces_and_sets(tmp_path: Path) -> None:
    save_event(tmp_path, plan(), deals(), registry())
    assert {path.name: oct(mode(path)) for path in tmp_path.iterdir() if path.name not in {EVENT, MOVEMENT}} == {
        DEALS: "0o600",
        SETS: "0o600",
    }


def test_saving_protects_secrets_that_others_could_read(tmp_path: Path) -> None:
    for name in (DEALS, SETS):
        (tmp_path / name).write_text("old")
        (tmp_path / name).chmod(0o644)
    save_event(tmp_path, plan(), deals(), registry())
    assert {mode(tmp_path / name) for name in (DEALS, SETS)} == {0o600}
    assert same(open_event(tmp_path), event())


def test_event_toml_contains_no_face(tmp_path: Path) -> None:
    save_event(tmp_path, plan(), deals(), registry())
    text = (tmp_path / EVENT).read_text()
    assert [face for face in KINDS if f'"{face}"' in text] == []


def problems(plan_: Plan, deals_: tuple[DealRecord, ...] | None = None, sets: Registry | None = None) -> list[str]:
    """Return the problems of an event that must be refused."""
    with pytest.raises(BadEvent) as refused:
        Event(plan_, deals() if deals_ is None else deals_, registry() if sets is None else sets)
    assert refused.value.code == "bad_event"
    return str(refused.value).split("; ")


def with_play(at: int, **changes: Any) -> Plan:  # noqa: ANN401 - values of any field
    plays = list(plan().plays)
    plays[at] = replace(plays[at], **changes)
    return replace(plan(), plays=tuple(plays))


SECOND = plan().plays[1]
"""Round 1, table 2, deal 2."""


def test_a_player_who_is_listed_twice_is_reported() -> None:
    assert problems(replace(plan(), players=(*plan().players, plan().players[3]))) == ["a player is listed twice"]


def test_a_play_without_four_players_is_reported() -> None:
    three = {seat: player for seat, player in SECOND.players.items() if seat != "north"}
    assert problems(with_play(1, players=three)) == ["round 1 table 2: four players are needed, one a seat"]


def test_an_unknown_player_is_reported() -> None:
    strange = {**SECOND.players, "north": "p99"}
    assert problems(with_play(1, players=strange)) == ["round 1 table 2: player p99 is not in the player list"]


def test_an_unknown_deal_is_reported() -> None:
    assert problems(with_play(1, deal=9)) == ["round 1 table 2: there is no deal 9"]


def test_a_table_with_two_plays_at_once_is_reported() -> None:
    assert "table 1 has two plays in round 1" in problems(with_play(1, table=1))


def test_a_carrier_at_two_tables_at_once_is_reported() -> None:
    assert "deal 1 is at two tables in round 1" in problems(with_play(1, deal=1))


def test_a_player_at_two_tables_at_once_is_reported() -> None:
    elsewhere = plan().plays[0].players["east"]
    found = problems(with_play(1, players={**SECOND.players, "east": elsewhere}))
    assert f"player {elsewhere} sits twice in round 1" in found


def test_a_player_who_plays_a_deal_twice_is_reported() -> None:
    again = next(play for play in plan().plays if play.deal == SECOND.deal and play != SECOND).players["east"]
    found = problems(with_play(1, players={**SECOND.players, "east": again}))
    assert f"player {again} plays deal 2 twice" in found


def test_a_table_that_plays_a_deal_twice_is_reported() -> None:
    later = next(play for play in plan().plays if play.table == 2 and play.round == 2)
    assert f"table 2 plays deal {later.deal} twice" in problems(with_play(1, deal=later.deal))


def test_a_deal_that_is_listed_twice_is_reported() -> None:
    assert problems(plan(), (*deals(), deals()[2])) == ["deal 3 is listed twice"]


def test_an_event_without_plays_is_refused() -> None:
    assert problems(replace(plan(), plays=())) == ["the plan has no plays"]


def test_all_problems_are_reported_at_once() -> None:
    broken = with_play(1, deal=9, players={"east": "p99"})
    assert problems(replace(broken, players=(*plan().players, plan().players[0])), (*deals(), deals()[0])) == [
        "a player is listed twice",
        "round 1 table 2: four players are needed, one a seat",
        "round 1 table 2: player p99 is not in the player list",
        "round 1 table 2: there is no deal 9",
        "deal 1 is listed twice",
    ]


def test_an_incomplete_deal_is_reported() -> None:
    first = deals()[0]
    faces = first.deal().faces
    short = replace(first, faces={**faces, "east": faces["east"][:33]})
    assert problems(plan(), (short, *deals()[1:])) == ["deal 1: four trays of 34 tiles are needed"]


@pytest.mark.parametrize("sets", [{}, {1: {}}, {n: dict(enumerate(FULL_SET)) for n in range(1, 5)}])
def test_an_incomplete_set_is_reported(sets: Registry) -> None:
    assert problems(plan(), sets=sets) == ["the registry does not list the 136 tiles of a set"]


def test_an_unknown_profile_is_reported() -> None:
    assert problems(replace(plan(), profile="mcr-1890"))[0].startswith("no profile 'mcr-1890'")


@pytest.mark.parametrize("name", [EVENT, DEALS, SETS])
@pytest.mark.parametrize(
    "written",
    [b"", b"?", b"\xff\xfe", b"x = [[[", b'{"a": 1}', b"[1]", b"x = " + b"[" * 5000, b"x = " + b"9" * 5000, b"\x00"],
    ids=lambda part: str(part)[:20],
)
def test_an_unreadable_file_is_reported_by_name(tmp_path: Path, name: str, written: bytes) -> None:
    save_event(tmp_path, plan(), deals(), registry())
    (tmp_path / name).write_bytes(written)
    with pytest.raises(BadEvent, match=f"^{name}: "):
        open_event(tmp_path)


@pytest.mark.parametrize("name", [EVENT, DEALS, SETS])
def test_a_missing_file_is_reported_with_its_folder(tmp_path: Path, name: str) -> None:
    save_event(tmp_path, plan(), deals(), registry())
    (tmp_path / name).unlink()
    with pytest.raises(BadEvent) as refused:
        open_event(tmp_path)
    assert (
        str(refused.value) == f"{name} is missing from {tmp_path}: complete the set-up, or restore the file from a copy"
    )


def test_a_set_number_above_99_is_refused(tmp_path: Path) -> None:
    save_event(tmp_path, plan(), (replace(deals()[0], set=100), *deals()[1:]), registry())
    with pytest.raises(BadEvent, match=r"^deals\.json: item 1, set: a whole number of at most 99 is needed$"):
        open_event(tmp_path)


def test_tables_and_plays_are_counted() -> None:
    assert event().tables == (1, 2, 3, 4)
    assert dict(event().expected) == {1: 4, 2: 4, 3: 4, 4: 4}


def strings(part: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield every text in a JSON value, including field names."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for name, value in part.items():
            yield from (name, *strings(value))
    elif isinstance(part, list):
        for value in part:
            yield from strings(value)


def told_of(of: Event, table: int) -> tuple[str, bytes]:
    """Return topic and payload of a table's first assignment."""
    publishes, ear = publisher(EventState(of))
    publishes.assignment(table)
    ((topic, payload, _),) = ear.said
    return topic, payload


@pytest.mark.parametrize("table", [1, 2, 3, 4])
def test_an_assignment_contains_the_whole_order_and_no_face(table: int) -> None:
    said = told_of(event(), table)
    found = json.loads(said[1])
    assert decode_on_topic(*said)[0].table == table
    assert set(strings(found)).isdisjoint({*KINDS, "0m", "0p", "0s", "faces"})
    told = {
        (p["round"], p["deal"]): form_hash({s: tuple(map(tuple, p["order"][s])) for s in SEATS}) for p in found["plays"]
    }
    assert told == {(b.round, b.deal): event().form(b.deal) for b in plan().plays if b.table == table}


def test_the_plays_of_a_table_are_in_order_of_rounds() -> None:
    backwards = Event(replace(plan(), plays=plan().plays[::-1]), deals(), registry())
    assert [play.round for play in backwards.plays_of(2)] == [1, 2, 3, 4]


def own_rules(profile_id: str = "our-club") -> str:
    return (mcr_folder() / "mcr.toml").read_text(encoding="utf-8").replace('id = "mcr"', f'id = "{profile_id}"')


def test_an_events_own_rules_are_sent_to_every_table(tmp_path: Path) -> None:
    save_event(tmp_path, replace(plan(), profile="our-club"), deals(), registry())
    (tmp_path / PROFILE).write_text(own_rules(), encoding="utf-8")
    opened = open_event(tmp_path)
    assert isinstance(opened.profile, Profile)
    assert (opened.profile.id, opened.profile.payments.several_hu.value) == ("our-club", "nearest")
    said = json.loads(told_of(opened, 1)[1])
    assert (said["profile"], said["rules"]) == ("our-club", own_rules())


def test_built_in_rules_are_sent_by_name_only() -> None:
    assert json.loads(told_of(event(), 1)[1])["rules"] is None


@pytest.mark.parametrize(
    ("wanted", "rules", "said"),
    [
        ("our-club", own_rules("another"), 'id: found "another"; allowed: "our-club"'),
        ("mcr", own_rules("mcr").replace("value = 3000", "value = 3001"), "one that ships says otherwise"),
        ("our-club", "?", "not TOML"),
        ("our-club", own_rules().replace("value = 3000", "value = -1"), "claim_window_ms.value"),
        ("our-club", None, "no profile 'our-club'"),
    ],
    ids=["another", "ships", "no TOML", "mistake", "none"],
)
def test_invalid_own_rules_are_refused(tmp_path: Path, wanted: str, rules: str | None, said: str) -> None:
    save_event(tmp_path, replace(plan(), profile=wanted), deals(), registry())
    if rules is not None:
        (tmp_path / PROFILE).write_text(rules, encoding="utf-8")
    with pytest.raises(BadEvent) as refused:
        open_event(tmp_path)
    assert said in str(refused.value)


def test_an_assignment_contains_the_time_limits_of_its_sessions() -> None:
    sessions = (Session("evening", 1, 2, play_minutes=40), Session("morning", 3, 4))
    limited = Event(replace(plan(), sessions=sessions), deals(), registry())
    said = told_of(limited, 2)
    _, message = decode_on_topic(*said)
    assert isinstance(message, Assignment)
    assert (message.minutes, event().minutes_of(2)) == ({1: 40, 2: 40}, {})


def test_an_assignment_contains_the_next_seats_if_anybody_moves() -> None:
    where = {(play.round, who): (play.table, seat) for play in plan().plays for seat, who in play.players.items()}
    for table in event().tables:
        _, message = decode_on_topic(*told_of(event(), table))
        assert isinstance(message, Assignment)
        for play in event().plays_of(table):
            here = {player.id: (table, seat) for seat, player in play.players.items()}
            then = {who: where.get((play.round + 1, who)) for who in here}
            stay = then == here or not any(then.values())
            told = {who: one and (one.table, one.seat) for who, one in message.onward.get(play.round, {}).items()}
            assert told == ({} if stay else then)


def test_players_who_sit_out_are_sent_the_round_in_which_they_play_again() -> None:
    first, *_ = plan().plays
    away = set(first.players.values())
    plays = (
        first,
        *(play for play in plan().plays if play.round == 1 and play.table != first.table),
        *(replace(play, round=4) for play in plan().plays if play.round == 2),
    )
    onward = Event(replace(plan(), plays=plays), deals(), registry()).onward(first.table)
    assert {who: one and one.round for who, one in onward[1].items()} == dict.fromkeys(away, 4)
