"""`homologue record rivers`: reconstructs a play from the tiles on the table at its end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from broker.cli.people import note_faces_shown
from broker.console import EXISTING_FILE, EXISTING_FOLDER, CommandError, json_object, say
from broker.event import read_json
from broker.export.pmn.check import VERBS
from broker.rules import RuleError
from broker.rules.mcr import FoundPlay, PlayStep
from broker.scorer import open_stored_event
from broker.scorer.play_finder import LaidPlay, find_play, store_plays


@click.command("rivers", short_help="Reconstruct a play from its rivers and melds.")
@click.argument("folder", metavar="EVENT_FOLDER", type=EXISTING_FOLDER)
@click.argument("laid", metavar="LAID", type=EXISTING_FILE)
@click.option("--table", required=True, type=click.IntRange(1), help="Number of the table.")
@click.option("--round", "round_", required=True, type=click.IntRange(1), help="Number of the round.")
@click.option("--save", is_flag=True, help="Store the play with the event, for replays and `homologue export pmn`.")
@json_object
def rivers(folder: Path, laid: Path, table: int, round_: int, *, save: bool) -> None:
    """Reconstruct a play from what lay on the table at its end. See docs/play.md.

    LAID is a JSON file with the serials: each river in its order, with 0 where a claimed tile has left a gap, and null
    for a tile that was not read; the melds; the hands that were shown. Every step is proved, likely or ambiguous.

    \b
    homologue record rivers my-event laid.json --table 3 --round 2
    {"seats": {"east": {"river": [12, 0, 45, null], "melds": [[7, 88, 9]], "hand": [1, 2, 3], "gaps": true},
               "south": {...}}, "winning": 45}
    """
    note_faces_shown(folder, "record rivers")
    room = open_stored_event(folder).state
    try:
        play = room.play((table, round_))
    except KeyError:
        raise RuleError("play_unknown", f"table {table} has no MCR result in round {round_}") from None
    found, hand = find_play(room.event, play, read_json(laid, LaidPlay))
    if save and found.irregular:
        raise CommandError("play_irregular", "somebody drew out of turn, which no record can express")
    if save:
        store_plays(folder, (hand,))
    say("\n".join(_lines(found)), **_row(found))


def _row(found: FoundPlay) -> dict[str, Any]:
    return {
        "plays": found.plays,
        "proved": found.proved,
        "last_tile": found.ltw,
        "self_drawn": found.self_drawn,
        "irregular": found.irregular,
        "out_of_turn": found.out_of_turn,
        "turned": found.reversed_rivers,
        "steps": [
            {
                "do": step.action.do,
                "seats": step.action.actors,
                "tile": step.action.tile,
                "serial": step.serial,
                "share": float(step.share),
                "certainty": step.certainty,
            }
            for step in found.steps
        ],
    }


def _lines(found: FoundPlay) -> Iterator[str]:
    for number, step in enumerate(found.steps, 1):
        certainty = "" if step.certainty == "proved" else f"  ({step.certainty}, {float(step.share):.0%})"
        yield f"{number:4}. {_step_text(step)}{certainty}"
    proved = sum(step.certainty == "proved" for step in found.steps)
    orders = "one order fits" if found.plays == 1 else f"{found.plays} orders fit"
    yield f"{proved} of {len(found.steps)} steps are proved; {orders}."
    yield LAST_TILE[found.ltw]
    if found.self_drawn is not False:
        yield SELF_DRAWN[found.self_drawn]
    if found.irregular:
        who = found.out_of_turn or "somebody"
        yield f"No legal play fits: {who} drew out of turn{': proved' if found.out_of_turn else ''}."
    for seat in found.reversed_rivers:
        yield f"The river of {seat} lies the wrong way round."


SELF_DRAWN = {
    True: "The winning tile was self-drawn: proved.",
    None: "The winning tile was self-drawn as recorded; only the winner's hand, all of it read, proves that.",
}

LAST_TILE = {
    True: "The last tile of the wall was reached: proved.",
    False: "The last tile of the wall was not reached: proved.",
    None: "Whether the last tile of the wall was reached is open: plays of both kinds fit.",
}


def _step_text(step: PlayStep) -> str:
    who = " and ".join(step.action.actors)
    if step.action.do in VERBS:
        serial = "" if step.serial is None else f" ({step.serial:03})"
        return f"{who} {VERBS[step.action.do]} {step.action.tile}{serial}"
    return f"{who} declares hu"
