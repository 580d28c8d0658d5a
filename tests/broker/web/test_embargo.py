"""Results under embargo do not leak to anybody but arbiters."""

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.export.seating import SEATING_PRINTS
from broker.protocol import TOPICS, Call, FinalDeclared, Fine, LogMessage, Seat, Undo, parse_topic, receipt_code
from broker.rules import Outcome
from broker.scorer import DashboardView, ViewFeed, open_part
from broker.web import Sheets, Visitor
from broker.web.embargo import PUBLIC_PAUSE_S, Feeds, PublicFeed
from broker.web.live import EventStreams, StreamPace
from tests import event_loop
from tests.broker.rulings.ruled import AT, ruling, state_of
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.small import OTHER_FORM, OUTCOMES, event, log, restored, state, steps
from tests.broker.scorer.team_event import said as said_of_team
from tests.broker.scorer.team_event import team_event
from tests.broker.web import sample
from tests.broker.web.openly import fetched
from tests.examples import COSTLY

PLAYS: Final = tuple((play.table, play.round) for play in event().plan.plays)
OPENLY_READ: Final = {topic.name for topic in TOPICS if "display" in topic.readers}
# Removed before pages are compared: the time at which a page was rendered (`/view.json` has all other times), and
# anchors, which are hashes of everything stored, random ids included, and so reveal nothing.
TIMES: Final = re.compile(r'<time datetime="[^"]*">[^<]*</time>|[0-9A-Z]{4}(-[0-9A-Z]{4}){6}')

PRINTS: Final = {f"/seating/{kind}.pdf" for kind in SEATING_PRINTS}
REFUSED: Final = {"/receipt/none", "/grid", "/live/grid", "/wire", "/live/wire", "/api/v1/rounds", *PRINTS}
"""Paths that are refused to everybody but arbiters."""

OF_TEAMS: Final = {"/team/1", "/live/team/1", "/team/1.json", "/api/v1/teams/1"}
"""Paths that do not exist in an event without teams."""

Play = tuple[Outcome, bool, bool]
"""The outcome, whether North is fined, and whether the tiles were laid in another form."""

a_play = st.tuples(st.sampled_from(OUTCOMES), st.booleans(), st.booleans())


def said(table: int, round_: int, play: Play, first: int = 1) -> list[LogMessage]:
    """Return the messages of a table about one play, which may be played out of turn."""
    outcome, fined, fouled = play
    fines: dict[Seat, Fine] = {"north": Fine(imp=4, reason="false hu")} if fined else {}
    turn, _, *rest = steps(table, round_, outcome, {} if "north" in outcome.winners else fines, forward=True)
    walls = restored(table, round_, OTHER_FORM if fouled else None)
    # The same number of facts for every ending, because public messages are numbered by how many have arrived.
    calls = [Call(round=round_, deal=walls.deal, open=False)] * (5 - len(rest))
    return log(table, turn, walls, *calls, *rest, first=first)


def seen(folder: Path, order: list[tuple[int, int]], plays: dict[tuple[int, int], Play]) -> tuple[object, ...]:
    """Return all that anybody but an arbiter can fetch or receive after these plays, and the open totals."""
    with open_journal(folder) as journal:
        hall = make_hall(folder, journal)
        for place in order:
            hall.hear(*said(*place, plays[place], hall.scorer.live.intake.books[place[0]].upto + 1))
        hall.hear(*(state(table) for table, _ in PLAYS[:4]))
        hall.connect(up=True)
        openly = {path: TIMES.sub("", text) for path, text in fetched(hall).items()}
        return openly, heard(hall), open_part(hall.scorer.snapshot).ledger.totals.imp.tolist()


def heard(hall: Hall) -> list[tuple[str, object, bool]]:
    """Return the messages on topics that displays may read, without their ids, which differ in every run."""
    found: list[tuple[str, object, bool]] = []
    for topic, payload, retain in hall.ear.said:
        place = parse_topic(topic)
        if place and place.topic.name in OPENLY_READ:
            found.append((topic, {**json.loads(payload), "id": None}, retain))
    return found


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[tuple[int, int]], dict[tuple[int, int], Play], dict[tuple[int, int], Play]]:
    """Draw an order of plays and two sets of outcomes that agree on all complete deals."""
    order = draw(st.permutations(PLAYS))[: draw(st.integers(3, len(PLAYS)))]
    played = [event().bookings[place].deal for place in order]
    complete = {deal for deal, expected in event().expected.items() if played.count(deal) == expected}
    one = {place: draw(a_play) for place in order}
    other = {place: one[place] if event().bookings[place].deal in complete else draw(a_play) for place in order}
    return order, one, other


@COSTLY
@given(worlds())
def test_results_under_embargo_do_not_change_what_the_public_receives(
    world: tuple[list[tuple[int, int]], dict[tuple[int, int], Play], dict[tuple[int, int], Play]],
) -> None:
    order, one, other = world
    with TemporaryDirectory() as here, TemporaryDirectory() as there:
        assert seen(Path(here), order, one) == seen(Path(there), order, other)


def plays_counted(openly: Mapping[str, str]) -> tuple[int, int]:
    """Return the number of public plays, and the sum of the plays counted in the public standings."""
    view = json.loads(openly["/view.json"][4:])
    return len(view["plays"]), sum(line["plays"] for line in view["standings"])


def test_a_deal_becomes_public_once_the_last_table_has_played_it(hall: Hall) -> None:
    of_deal_1 = [place for place in PLAYS if event().bookings[place].deal == 1]
    for place in of_deal_1[:-1]:
        hall.hear(*said(*place, (OUTCOMES[1], False, False)))
    before = fetched(hall)
    assert {path for path, text in before.items() if not text.startswith("200")} == REFUSED | OF_TEAMS
    assert (heard(hall), json.loads(before["/deal/1.json"][4:])["groups"]) == ([], [])
    assert plays_counted(before) == (0, 0)
    hall.hear(*said(*of_deal_1[-1], (OUTCOMES[1], False, False)))
    table, _ = hidden = next(place for place in PLAYS if event().bookings[place].deal != 1)
    hall.hear(*said(*hidden, (OUTCOMES[1], False, False), hall.scorer.live.intake.books[table].upto + 1))
    after = fetched(hall)
    assert [topic for topic, _, _ in heard(hall)] == ["hm/cup/public/deal/1", "hm/cup/public/places"]
    assert len(json.loads(after["/deal/1.json"][4:])["groups"][0]["plays"]) == 4
    assert plays_counted(after) == (4, 4 * 4)
    assert all("+42" in after[path] for path in ("/", "/deal/1", "/live/deal/1"))


def test_team_sheets_and_standings_contain_no_deal_under_embargo(tmp_path: Path) -> None:
    told = []
    for at, hu in enumerate((18, 60)):
        folder = tmp_path / str(at)
        folder.mkdir()
        with open_journal(folder) as journal:
            hall = make_hall(folder, journal, team_event())
            # Some tables have results of other deals, which differ between the two halls.
            hall.hear(
                *(
                    one
                    for place in PLAYS[:13]
                    for one in said_of_team(*place, hu if team_event().bookings[place].deal != 2 else 9)
                )
            )
            told.append({path: TIMES.sub("", text) for path, text in fetched(hall).items()})
    assert told[0] == told[1]
    assert [told[0][path][:3] for path in sorted(OF_TEAMS)] == ["200"] * len(OF_TEAMS)
    assert [one["deal"] for one in json.loads(told[0]["/team/1.json"][4:])["deals"]] == [2]


def test_a_receipt_under_embargo_confirms_storage_but_shows_no_result(hall: Hall) -> None:
    told = said(1, 1, (OUTCOMES[1], True, False)), said(2, 2, (OUTCOMES[0], False, False))
    hall.hear(*told[0], *told[1])
    one, other = told[0][-1], told[1][-1]
    answers = [
        fetched(hall, (f"/receipt/{receipt_code(message)}",))[f"/receipt/{receipt_code(message)}"]
        for message in (one, other)
    ]
    assert all("stored as the four players confirmed it" in answer for answer in answers)
    assert [word for answer in answers for word in ("+42", "Player", "HV", "SHA-256") if word in answer] == []


def test_players_with_the_same_name_are_listed_in_a_fixed_order(hall: Hall) -> None:
    lines = json.loads(fetched(hall)["/view.json"][4:])["standings"]
    assert [line["player"] for line in lines] == sorted(event().players)


def test_sheets_become_final_when_declared_and_provisional_when_withdrawn() -> None:
    room = state_of()
    sheets, anyone = Sheets(room.snapshot, lambda: AT), Visitor()
    found = []
    for decision in (None, FinalDeclared(), Undo(ruling="ruling-0001")):
        if decision:
            room.apply(ruling(room, decision))
        found.append((sheets.standings(anyone).final, sheets.player(anyone, "p01").final))
    assert found == [(False, False), (True, True), (False, False)]


HIDDEN: Final = st.fixed_dictionaries(
    {},
    optional={
        "state": st.sampled_from(("playing", "declared", "accepting")),
        "calling": st.booleans(),
        "calling_since": st.integers(0, 9),
        "health": st.just({"camera": "camera_failed"}),
        "unsent": st.integers(0, 9),
        "gaps": st.just((4,)),
        "ordered": st.integers(0, 9),
        "obeyed": st.just({1: "an-order-1"}),
        "arbiter": st.just("Inès"),
        "pin": st.just("0123456789abcdef"),
    },
)
"""Changes at a table during a play that only arbiters may see."""


@given(st.lists(HIDDEN, min_size=1, max_size=5))
def test_hidden_changes_do_not_change_the_public_view_or_its_version(
    changes: list[dict[str, object]],
) -> None:
    first = sample.view()
    playing = replace(first, tables=(replace(first.tables[0], state="playing"), *first.tables[1:]))
    room = ViewFeed(playing)
    public = Feeds(room).of(Visitor())
    before = public.current
    for number, change in enumerate(changes, first.version + 1):
        changed = replace(room.current.tables[0], **change)
        room.publish(replace(room.current, version=number, tables=(changed, *first.tables[1:]), alerts=()))
        assert public.current is before
    room.publish(replace(room.current, plays_in=room.current.plays_in + 1))
    assert public.current.version == before.version + 1


def test_the_public_stream_sends_nothing_when_something_hidden_happens() -> None:
    """Neither a view nor a heartbeat, because its time would reveal when somebody declared."""
    ticks: list[float] = []

    async def steps() -> list[bytes | None]:
        room = ViewFeed(sample.view())

        async def tick(seconds: float) -> None:
            ticks.append(seconds)
            hidden = replace(room.current.tables[0], calling=len(ticks) % 2 == 0, unsent=len(ticks))
            room.publish(sample.newer(room.current, tables=(hidden, *room.current.tables[1:])))
            if len(ticks) == 100:
                room.publish(sample.newer(room.current, plays_in=99))
            await asyncio.sleep(0)

        def number(view: DashboardView) -> bytes:
            return str(view.plays_in).encode()

        stream = EventStreams().follow(PublicFeed(room, tick), number, StreamPace(gap_s=0))
        return [await anext(stream), await anext(stream)]

    first, second = event_loop.run(steps())
    assert (first != second, second) == (True, b"99")
    assert ticks == [PUBLIC_PAUSE_S] * len(ticks)
    assert len(ticks) >= 100
