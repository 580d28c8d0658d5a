"""After any rulings the exports add up to the desk's standings and reveal nothing under embargo."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.event import Earlier, Event
from broker.event.earlier import EarlierPlace
from broker.export import document, results
from broker.export.pmn.check import declared_judge, judge_record
from broker.export.pmn.event import event_records, pmn_notes
from broker.export.pmn.notation import read_records, write_records
from broker.export.pmn.record import PmnRecord
from broker.protocol import (
    SEATS,
    Adjusted,
    AnyDecision,
    Award,
    DealPlayed,
    FineRuled,
    Fouled,
    LogMessage,
    SeatsPlayed,
    Undo,
    Void,
    Withdrawn,
)
from broker.scorer import EventState, Snapshot, StoredEvent, open_part
from broker.scoring import table_of
from tests.broker.cli.asking import ask
from tests.broker.rulings.drawn import DrawnRuling, sequences
from tests.broker.rulings.ruled import correct, ruling, state_of
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.small import OUTCOMES, deals, event, plan, registry
from tests.broker.scorer.staged import play_rounds, staged_event
from tests.broker.scorer.team_event import TEAMS, said, team_event

PLAY = (1, 2)
HERE = event().bookings[PLAY]
EAST, SOUTH, WEST, NORTH = (HERE.players[seat] for seat in SEATS)
OTHER = HERE.deal % 4 + 1

EVERY_KIND: dict[str, list[DrawnRuling]] = {
    "correction": [(correct(OUTCOMES[2], None), PLAY, None)],
    "void": [(Void(), PLAY, None)],
    "adjusted": [(Adjusted(gives={EAST: 5, SOUTH: "own", WEST: "others", NORTH: "nobody"}), PLAY, None)],
    "award of a play": [(Award(gives={SOUTH: -3}), PLAY, None)],
    "award of a void play": [(Void(), PLAY, None), (Award(gives={SOUTH: 20}), PLAY, None)],
    "award of no play": [(Award(gives={SOUTH: 20, "p16": -7}), None, None)],
    "fine of a play": [(FineRuled(takes={WEST: 4, EAST: 5}), PLAY, None)],
    "fine of no play": [(FineRuled(takes={WEST: 4}), None, None), (FineRuled(takes={WEST: 8}), None, None)],
    "fouled": [(Fouled(groups=((1, 2), (3, 4))), None, HERE.deal)],
    "seats": [(SeatsPlayed(players={**HERE.players, "east": WEST, "west": EAST}), PLAY, None)],
    "wrong table": [(SeatsPlayed(players=dict(event().bookings[2, 2].players)), PLAY, None)],
    "deal played": [(DealPlayed(played=OTHER, result="t1-fact-10"), PLAY, None)],
    "deal played twice": [
        (DealPlayed(played=1, result="t1-fact-10"), PLAY, None),
        (DealPlayed(played=1, result="t1-fact-14"), (1, 3), None),
    ],
    "withdrawn": [(Withdrawn(player=NORTH, first_round=3), None, None)],
    "undone": [(Void(), PLAY, None), (Undo(ruling="ruling-0001"), None, None)],
}

UNTIL = st.sampled_from([2, 3, 4])


def ruled(rulings: Iterable[DrawnRuling], heard: list[LogMessage] | None = None) -> StoredEvent:
    """Return an event after these facts and then these rulings."""
    room = state_of(heard)
    for one in rulings:
        room.apply(ruling(room, *one))
    return StoredEvent(event(), room, {deal.number: deal for deal in deals()}, {})


def shown(stored: StoredEvent, *, embargoed: bool) -> Snapshot:
    """Return the desk's snapshot for arbiters (`embargoed`) or for everybody."""
    return stored.state.snapshot() if embargoed else open_part(stored.state.snapshot())


def scored(stored: StoredEvent, *, embargoed: bool) -> dict[str, list[dict[str, object]]]:
    """Return the output of `homologue score` for the exported plays."""
    (answer,) = ask("score", *results.play_lines(stored, embargoed=embargoed).splitlines())
    assert set(answer) == {"travellers", "standings"}, answer
    return dict(answer)


def check_scored(stored: StoredEvent, *, embargoed: bool, places: bool = True) -> None:
    moment, answer = shown(stored, embargoed=embargoed), scored(stored, embargoed=embargoed)
    lines = [(row["place"], row["player"], row["imp"], row["fines"]) for row in answer["standings"]]
    if places:
        assert lines == [(line.place, line.name, line.imp, line.fines) for line in moment.ranking]
    compared = [
        (traveller["deal"], play["table"], play["imp"])
        for traveller in answer["travellers"]
        for group in traveller["groups"]  # type: ignore[attr-defined]  # JSON
        for play in group["plays"]
    ]
    plays = (one for group in moment.ledger.groups for one in group.plays)
    at_desk = [(one.play.deal, table_of(one.play), dict(one.imp)) for one in plays]
    assert sorted(map(json.dumps, compared)) == sorted(map(json.dumps, at_desk))


def sums(stored: StoredEvent, *, embargoed: bool) -> list[Counter[str]]:
    """Return each player's total in the CSV and in the document."""
    in_file, in_document = Counter[str](), Counter[str]()
    for row in csv.DictReader(io.StringIO(results.results_csv(results.event_result_rows(stored, embargoed=embargoed)))):
        in_file[row["player"]] += int(row["imp"] or 0) - int(row["fine"]) + int(row["award"])
    for group in document._groups(stored, everything=embargoed):
        for play in group.plays:
            for seat in play.seats.values():
                in_document[seat.player] += int(seat.imp) - seat.fine + seat.award
    for unplayed in document._unplayed(stored, everything=embargoed):
        for one in unplayed.seats.values():
            in_document[one.player] += one.award - one.fine
    for outside in document._outside_plays(stored):
        in_document[outside.player] += outside.award - outside.fine
    return [in_file, in_document]


def check_sums(stored: StoredEvent, *, embargoed: bool) -> None:
    has = {line.name: Fraction(line.imp) for line in shown(stored, embargoed=embargoed).ranking if line.imp}
    for found in sums(stored, embargoed=embargoed):
        assert {player: imp for player, imp in found.items() if imp} == has


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("rounds", [2, 4])
def test_after_every_kind_of_ruling_the_files_agree_with_the_desk(kind: str, rounds: int) -> None:
    stored = ruled(EVERY_KIND[kind], until_round(rounds))
    for embargoed in (True, False):
        check_scored(stored, embargoed=embargoed)
        check_sums(stored, embargoed=embargoed)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_undoing_a_ruling_restores_the_exported_plays(kind: str) -> None:
    stored = ruled(EVERY_KIND[kind])
    for entry in reversed(list(stored.state.book.entries.values())):
        if stored.state.book.counts(entry.id) and not isinstance(entry.decision, Undo):
            stored.state.apply(ruling(stored.state, Undo(ruling=entry.id)))
    assert results.play_lines(stored) == results.play_lines(ruled([]))


@given(sequences(), UNTIL)
def test_exported_plays_give_the_desks_imps_fines_and_places(rulings: list[DrawnRuling], rounds: int) -> None:
    stored = ruled(rulings, until_round(rounds))
    check_scored(stored, embargoed=True)
    check_scored(stored, embargoed=False)


@given(sequences(), UNTIL)
def test_rows_and_document_add_up_to_the_desks_standings(rulings: list[DrawnRuling], rounds: int) -> None:
    stored = ruled(rulings, until_round(rounds))
    check_sums(stored, embargoed=True)
    check_sums(stored, embargoed=False)


IN_TEAMS = team_event().bookings[PLAY].players

OF_TEAMS: dict[str, AnyDecision] = {
    "void": Void(),
    "adjusted": Adjusted(gives=dict.fromkeys(IN_TEAMS.values(), 5)),
    "award": Award(gives={IN_TEAMS["east"]: 3}),
    "fine": FineRuled(takes={IN_TEAMS["east"]: 4}),
    "correction": correct(OUTCOMES[2], None),
    "seats": SeatsPlayed(players=dict(zip(SEATS, reversed(list(IN_TEAMS.values())), strict=True))),
    "wrong table": SeatsPlayed(players=dict(team_event().bookings[2, 2].players)),
    "deal played": DealPlayed(played=team_event().bookings[PLAY].deal % 4 + 1, result=said(*PLAY)[-1].id),
}


@pytest.mark.parametrize(("kind", "play"), [*((kind, PLAY) for kind in OF_TEAMS), ("award", None), ("fine", None)])
@pytest.mark.parametrize("rounds", [3, 4])
def test_exported_plays_of_a_team_event_give_the_desks_standings(
    kind: str, play: tuple[int, int] | None, rounds: int, tmp_path: Path
) -> None:
    room = EventState(team_event())
    room.load(one for table in range(1, 5) for round_ in range(1, rounds + 1) for one in said(table, round_))
    room.apply(ruling(room, OF_TEAMS[kind], play))
    teams = tmp_path / "teams.json"
    teams.write_text(json.dumps(TEAMS), encoding="utf-8")
    lines = results.play_lines(StoredEvent(team_event(), room, {}, {}), embargoed=True).splitlines()
    (answer,) = ask("score", *lines, options=("--event", "team", "--teams", str(teams)))
    assert [(row["place"], row["team"], row["imp"], row["fines"]) for row in answer["standings"]] == [
        (line.place, line.name, line.imp, line.fines) for line in room.team_standings()
    ]


BROUGHT: Final = ((3, 1), (-3, 2), (40, 3))
"""IMPs and places in the standings of an earlier event."""


def test_lines_contain_carried_over_imps_and_guests() -> None:
    of = plan()
    earlier = Earlier("Saturday", "2/3", tuple(EarlierPlace(f"p{at:02}", at, imp) for imp, at in BROUGHT))
    players = (*of.players[:-1], replace(of.players[-1], without_standing=True))
    linked = Event(replace(of, players=players, earlier=earlier), deals(), registry())
    room = EventState(linked)
    room.load(until_round(3))
    stored = StoredEvent(linked, room, {}, {})
    lines = room.snapshot().ranking
    assert [line.imp for line in lines] != [line.imp for line in ruled([], until_round(3)).state.snapshot().ranking]
    assert len(lines) == len(of.players) - 1
    check_scored(stored, embargoed=True)


def test_lines_of_a_team_event_contain_carried_over_imps_and_guests(tmp_path: Path) -> None:
    guests = TEAMS["Team D"]
    earlier = Earlier(
        "Saturday", "", (), tuple(EarlierPlace(f"Team {'ABC'[at - 1]}", at, 90 * imp) for imp, at in BROUGHT)
    )
    players = tuple(replace(one, without_standing=one.id in guests) for one in plan().players)
    of = replace(team_event().plan, players=players, earlier=earlier, profile="zero-sum")
    linked = Event(of, deals(), registry())
    room = EventState(linked)
    room.load(one for table in range(1, 5) for round_ in range(1, 5) for one in said(table, round_))
    teams = tmp_path / "teams.json"
    teams.write_text(json.dumps(TEAMS), encoding="utf-8")
    lines = results.play_lines(StoredEvent(linked, room, {}, {}), embargoed=True).splitlines()
    (answer,) = ask("score", *lines, options=("--event", "team", "--teams", str(teams), "--profile", of.profile))
    assert [(row["place"], row["team"], row["imp"], row["fines"]) for row in answer["standings"]] == [
        (line.place, line.name, line.imp, line.fines) for line in room.team_standings()
    ]
    assert len(answer["standings"]) == 3


def test_exported_plays_keep_sections_apart() -> None:
    room = EventState(staged_event())
    room.load(play_rounds(staged_event(), (1, 2), Random(7), {}))
    stored = StoredEvent(staged_event(), room, {}, {})
    lines = [json.loads(line) for line in results.play_lines(stored, embargoed=True).splitlines()]
    assert {(line["table"], line["section"]) for line in lines} == {(1, "A"), (2, "A"), (3, "B"), (4, "B")}
    check_scored(stored, embargoed=True, places=False)


NOTED = """\
% Table 2, round 1, deal 2: in addition to the points.
% p06 Player 6: -3 IMP, fined 5 IMP

% Table 1, round 2, deal 2: adjusted by an arbiter: it has no points, and is in no datum.
% p11 Player 11: +5 IMP
% p01 Player 1: -3 IMP
% p08 Player 8: +3 IMP

% Table 4, round 2, deal 1: declared void: it counts for nobody, and is in no datum.

% Outside all plays.
% p01 Player 1: +20 IMP
% p06 Player 6: fined 4 IMP
% p16 Player 16: -7 IMP
"""


def test_what_fits_no_pmn_tag_is_in_comments() -> None:
    fined = event().bookings[2, 1].players["east"]
    said: list[DrawnRuling] = [
        *EVERY_KIND["adjusted"],
        (Void(), (4, 2), None),
        (Award(gives={fined: -3}), (2, 1), None),
        (FineRuled(takes={fined: 5}), (2, 1), None),
        (FineRuled(takes={fined: 4}), (1, 1), None),
        *EVERY_KIND["award of no play"],
    ]
    stored = ruled(said)
    text = write_records(event_records(stored), pmn_notes(stored))
    records = [found.record for found in read_records(BytesIO(text.encode()))]
    assert records == list(event_records(stored))
    assert [judge_record(one, declared_judge) for one in records if isinstance(one, PmnRecord)] == [None] * 14
    assert text[text.index("%") :] == NOTED


def test_comments_contain_nothing_under_embargo() -> None:
    stored = ruled([one for said in EVERY_KIND.values() for one in said], until_round(2))
    assert [note for note in pmn_notes(stored) if not note.startswith("Outside all plays.")] == []
