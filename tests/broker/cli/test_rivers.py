"""`homologue record rivers` reconstructs a play from the tiles on the table and saves it for the PMN record."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.event import HandRecord, read_hands
from broker.export.pmn.event import event_records
from broker.rules import Outcome
from broker.scorer import open_stored_event
from broker.sim.laid import LaidTiles, laid_play
from tests.broker.export.pmn.test_event import drawn_out
from tests.broker.rules.mcr.test_play_from_rivers import pass_tiles


class Drawn(NamedTuple):
    folder: Path
    hand: HandRecord
    laid: LaidTiles


@pytest.fixture
def drawn(over: Path) -> Drawn:
    """Return an event and one of its drawn plays, with the tiles on the table."""
    stored = open_stored_event(over)
    fouled = {(play.round, play.table) for _, play in stored.played() if play.form != stored.event.form(play.deal)}
    hand = next(
        drawn_out(stored, play.round, play.table)
        for _, play in stored.played()
        if play.win == "draw" and (play.round, play.table) not in fouled
    )
    deal, order = stored.event.open_deal(hand.deal), stored.event.order(hand.deal)
    return Drawn(over, hand, laid_play(deal, hand.actions, Outcome("draw", {}), 1, order=order))


def rivers(drawn: Drawn, *said: str, rest: int = 0) -> Result:
    """Run the command, leaving out the last `rest` tiles of east's river."""
    seats = {seat: {"river": one.river, "hand": one.hand} for seat, one in drawn.laid.laid.items()}
    seats["east"]["river"] = drawn.laid.laid["east"].river[: -rest or None]
    laid = drawn.folder.parent / "laid.json"
    laid.write_text(json.dumps({"seats": seats}), encoding="utf-8")
    where = ["--table", str(drawn.hand.table), "--round", str(drawn.hand.round)]
    return CliRunner().invoke(homologue, ["record", "rivers", str(drawn.folder), str(laid), *where, *said])


def test_the_play_is_printed_step_by_step_with_what_is_proved(drawn: Drawn) -> None:
    done = rivers(drawn)
    first, *_, proved, last_tile = done.stdout.splitlines()
    assert (done.exit_code, done.stderr) == (0, "")
    assert first.startswith("   1. ")
    assert " takes " in first
    assert proved == f"{len(drawn.laid.done)} of {len(drawn.laid.done)} steps are proved; one order fits."
    assert last_tile == "The last tile of the wall was reached: proved."


def test_the_play_found_is_given_as_json(drawn: Drawn) -> None:
    told = json.loads(rivers(drawn, "--json").stdout)
    assert (told["plays"], told["proved"], told["irregular"]) == (1, True, False)
    assert (told["last_tile"], told["self_drawn"], told["out_of_turn"]) == (True, False, None)
    assert {step["certainty"] for step in told["steps"]} == {"proved"}


def test_a_draw_out_of_turn_is_reported_and_such_a_play_is_not_saved(drawn: Drawn) -> None:
    event = open_stored_event(drawn.folder).event
    passed = pass_tiles(event.open_deal(drawn.hand.deal), event.order(drawn.hand.deal), out_of_turn=9)
    irregular = drawn._replace(laid=passed)
    told = json.loads(rivers(irregular, "--json").stdout)
    assert told["irregular"]
    assert rivers(irregular).stdout.splitlines()[-1] == (
        f"No legal play fits: {told['out_of_turn']} drew out of turn: proved."
    )
    assert "[play_irregular]" in rivers(irregular, "--save").stderr


def test_a_saved_play_is_in_the_record(drawn: Drawn) -> None:
    assert rivers(drawn, "--save").exit_code == 0
    assert rivers(drawn, "--save").exit_code == 0
    (kept,) = read_hands(drawn.folder)
    assert (kept.table, kept.round, kept.unproved) == (drawn.hand.table, drawn.hand.round, ())
    told = [(one.round, one.table) for one in event_records(open_stored_event(drawn.folder)) if one.steps]
    assert told == [(drawn.hand.round, drawn.hand.table)]


def test_rivers_that_no_play_fits_are_refused(drawn: Drawn) -> None:
    assert "[no_play_fits]" in rivers(drawn, rest=3).stderr
    assert not read_hands(drawn.folder)


def test_a_play_without_result_is_refused(drawn: Drawn) -> None:
    other = drawn._replace(hand=HandRecord(99, 1, 1, ()))
    assert "[play_unknown]" in rivers(other).stderr
