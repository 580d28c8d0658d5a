"""What states, seats, roles, rulings and fields are called on the pages, by their code."""

from collections.abc import Mapping
from typing import Final

from broker.i18n import N_, Message

STATE: Final[Mapping[str, Message]] = {
    "waiting": N_("Waiting"),
    "restoring": N_("Restoring"),
    "seating": N_("Checking in"),
    "confirming": N_("Confirming tiles"),
    "playing": N_("Playing"),
    "declared": N_("Hu declared"),
    "accepting": N_("Accepting points"),
    "recorded": N_("Recorded"),
    "finished": N_("Finished"),
    "unheard": N_("Not heard yet"),
    "init": N_("Starting"),
    "disconnected": N_("Signed off"),
    "lost": N_("Not connected"),
}

STAGE: Final[Mapping[str, Message]] = {
    "in": N_("Result in"),
    "missing": N_("Missing from an earlier round"),
    "to_come": N_("To come"),
    "offline_unsent": N_("Not connected, with facts unsent"),
}

WANT: Final[Mapping[str, Message]] = {
    "calling": N_("Calls: {count}"),
    "walls": N_("Walls to look at: {count}"),
    "offline_unsent": N_("Not connected, unsent: {count}"),
    "over": N_("Over time: {count}"),
    "lost": N_("Not connected: {count}"),
    "missing": N_("Earlier round missing: {count}"),
    "gaps": N_("Facts missing: {count}"),
    "unwell": N_("Device faults: {count}"),
}

WALLS: Final[Mapping[str, Message]] = {
    "fouled": N_("Tiles not as dealt"),
    "unverified": N_("Walls not verified"),
}

COMMAND: Final[Mapping[str, Message]] = {
    "clear_call": N_("Clear the call"),
    "pause": N_("Pause"),
    "resume": N_("Resume"),
    "extra_time": N_("Extra time"),
    "reopen": N_("Reopen the result"),
    "admit": N_("Let the arbiter in at the table"),
}

ORDER_FATE: Final[Mapping[str, Message]] = {
    "given": N_("Given. It is shown as done once the table says so."),
    "waiting": N_("not yet heard of by table {tables}"),
    "passed": N_("table {tables} has obeyed a later order and not this one: give it again if it still holds"),
    "forgotten": N_("table {tables} no longer says whether it carried this out"),
    "calling": N_("Tables that call:"),
    "paused": N_("Tables that stand still:"),
    "not_again": N_("That order was given already. It was not given a second time."),
}

WIN: Final[Mapping[str, Message]] = {
    "discard": N_("Won on a discard"),
    "self_drawn": N_("Self-drawn"),
    "draw": N_("Draw"),
}

PAPER_TAKEN: Final[Mapping[str, Message]] = {
    "taken": N_("kept; it counts now"),
    "there_already": N_("is there already, and says the same"),
    "first": N_("keyed; it waits for a second person"),
    "agrees": N_("both say the same; it counts now"),
    "differs": N_("the two say different things: an arbiter settles it, above"),
    "waiting": N_("Sheets that wait for a second person: {count}"),
    "to_look": N_("Look at it"),
}

ROLE: Final[Mapping[str, Message]] = {
    "head_arbiter": N_("Head arbiter"),
    "table_arbiter": N_("Table arbiter"),
    "organiser": N_("Organiser"),
    "display": N_("Display"),
}

ABOUT: Final[Mapping[str, Message]] = {
    "head_arbiter": N_("sees and may do everything"),
    "table_arbiter": N_("sees the whole room; gives orders to tables, rules on plays, keys result sheets"),
    "organiser": N_("sets the event up, pairs devices, prints blank sheets; sees what is public"),
    "display": N_("a screen in the hall: sees what is public"),
    "correct": N_("Another outcome takes the place of the one entered. Points follow from it."),
    "void": N_("The play counts for nobody and is in no datum. Fines stay."),
    "adjusted": N_("The play is in no datum. Each player gets something instead, by fault or freely."),
    "award": N_("IMPs beside what was played; below zero they are taken."),
    "fine": N_("IMPs taken off. They enter no datum."),
    "fouled": N_(
        "Tables of a line had the tiles alike and are compared with each "
        "other. Tables that are not named stay as they were restored."
    ),
    "seats_played": N_("Who really sat where. The points stay with the seats."),
    "deal_played": N_("Which deal was really played, or is to be played. The play is compared there."),
    "substitute": N_(
        "Somebody else sits in a player’s seats from a round on, and plays for "
        "that player: all IMPs go on counting for the player, as before. The "
        "tables are told. With the player’s own name: is back."
    ),
    "withdrawn": N_(
        "A player is gone and nobody comes instead: plays from that round on "
        "that have no result are not played but adjusted, for all four. The "
        "tables are told. A substitute ruled later plays again."
    ),
    "deadline": N_(
        "Until then arbiters may correct and nothing is final. After it the "
        "head arbiter alone rules. Minutes count from the moment in which you "
        "publish; with 0 corrections end at once."
    ),
    "undo": N_("The ruling counts no longer. It stays in the history, and this can be taken back too."),
}

PLAYER_FIELD: Final[Mapping[str, Message]] = {
    "country": N_("Country"),
    "club": N_("Club"),
    "national": N_("National no."),
    "ema": N_("EMA no."),
    "first_name": N_("First name"),
    "last_name": N_("Last name"),
}

KEYING: Final[Mapping[str, Message]] = {
    "single": N_("one person keys, and looks twice"),
    "double": N_("two people key, blindly"),
}

RULING: Final[Mapping[str, Message]] = {
    "player_corrected": N_("Player corrected"),
    "title_corrected": N_("Title corrected"),
    "sessions_corrected": N_("Sessions corrected"),
    "paused": N_("Paused"),
    "resumed": N_("Goes on"),
    "time_added": N_("Extra time"),
    "let_in": N_("Let in"),
    "left": N_("Left"),
    "pin_wrong": N_("Wrong PIN"),
    "correct": N_("Correction"),
    "void": N_("Void"),
    "adjusted": N_("Adjusted"),
    "award": N_("Award"),
    "fine": N_("Fine"),
    "fouled": N_("Fouled deal"),
    "seats_played": N_("Who sat where"),
    "deal_played": N_("Deal played"),
    "substitute": N_("Substitute"),
    "withdrawn": N_("Withdrawn"),
    "reopen": N_("Reopened"),
    "deadline": N_("End of corrections"),
    "undo": N_("Taken back"),
}

EFFECTS_COMING: Final[Mapping[str, Message]] = {
    "substitute": N_("Plays with the substitute: {count}"),
    "withdrawn": N_("Plays that will not be played: {count}"),
}

FAULT: Final[Mapping[str, Message]] = {
    "nobody": N_("nobody’s fault"),
    "others": N_("others’ fault"),
    "own": N_("own fault"),
}

RIICHI_WIN: Final[Mapping[str, Message]] = {
    "discard": N_("Ron"),
    "self_drawn": N_("Tsumo"),
    "draw": N_("Exhaustive draw"),
    "abort": N_("Broken off"),
}

RIICHI_COLUMN: Final[Mapping[str, Message]] = {
    "han": N_("Han"),
    "fu": N_("Fu"),
    "yakuman": N_("Yakuman"),
}

RIICHI: Final[Mapping[str, Message]] = {
    "tenpai": N_("Tenpai, where the hand was drawn"),
    "nagashi": N_("Nagashi mangan, where the hand was drawn"),
    "nine_terminals": N_("nine terminals"),
    "four_winds": N_("four winds"),
    "four_riichi": N_("four riichi"),
    "four_kans": N_("four kans"),
    "triple_ron": N_("triple ron"),
}

LET_IN_BY: Final[Mapping[str, Message]] = {
    "pin": N_("by PIN"),
    "desk": N_("by the desk"),
}

WHAT_IF: Final[Mapping[str, Message]] = {
    "method": N_("Comparison"),
    "own_score": N_("Own score"),
    "gap": N_("Between two steps"),
    "rounding": N_("Datum"),
}

WHAT_IF_OPTION: Final[Mapping[str, Message]] = {
    "method_datum": N_("with the datum"),
    "method_cross": N_("with each other play"),
    "own_score_included": N_("in the datum"),
    "own_score_excluded": N_("not in the datum"),
    "gap_midpoint": N_("midpoint"),
    "gap_floor": N_("lower step"),
    "rounding_none": N_("exact"),
    "rounding_tenth": N_("to a tenth"),
    "rounding_whole": N_("to a whole point"),
}

WIRE: Final[Mapping[str, Message]] = {
    "in": N_("to the scorer"),
    "out": N_("from the scorer"),
}

TOLD: Final[Mapping[str, Message]] = {
    "awards": N_("Awards: {list}"),
    "no_awards": N_("No awards"),
    "fines": N_("Fines: {list}"),
    "no_fines": N_("No fines"),
}

PLAN_FIELD: Final[Mapping[str, Message]] = {
    "name": N_("Name"),
    "country": N_("Country"),
    "club": N_("Club"),
    "national": N_("National number"),
    "ema": N_("EMA number"),
    "first_name": N_("First name"),
    "last_name": N_("Last name"),
    "first_round": N_("From round"),
    "last_round": N_("To round"),
    "starts": N_("Begins"),
    "play_minutes": N_("Minutes a play"),
    "title": N_("Title"),
}

EXPORT: Final[Mapping[str, Message]] = {
    "standings.pdf": N_("Standings, to print"),
    "travellers.pdf": N_("Travellers, to print"),
    "standings-table.csv": N_("Standings, for spreadsheets"),
    "results.csv": N_("All plays, for spreadsheets"),
    "ema.csv": N_("Report for the European Mahjong Association"),
    "plays.pmn": N_("A record of each play (PMN)"),
    "plays.jsonl": N_("Plays for homologue score"),
    "event.json": N_("Everything in one JSON document"),
}
