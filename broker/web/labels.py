"""Names on the pages for states, seats, roles, rulings and fields, by their codes."""

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from broker.i18n import N_, Message
from broker.people.login import FIRST_LINK_USER
from broker.protocol import AT_THE_TABLE
from broker.scorer import DashboardView
from broker.web.i18n import HtmlTranslator

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
    "unheard": N_("Not online yet"),
    "hall_there": N_("Hall connected"),
    "hall_away": N_("Hall offline"),
    "init": N_("Starting"),
    "disconnected": N_("Switched off"),
    "lost": N_("Offline"),
    "silent": N_("No message for 30 s"),
}

DISK: Final[Mapping[str, Message]] = {
    "read_only": N_(
        "The scorer’s disk is nearly full: the desk is read-only. Table results are still stored. "
        "Free up disk space; the desk then resumes automatically."
    ),
    "full": N_(
        "The scorer’s disk is full: nothing more is stored. Tables play on and keep everything. "
        "Free up disk space; storing then resumes automatically."
    ),
}


def banners(view: DashboardView) -> tuple[Message, ...]:
    """Return the warnings in red above every page of those who may see the room."""
    disk = (DISK[view.disk],) if view.disk in DISK else ()
    return (*disk, _lost(view.lost)) if view.lost else disk


def _lost(count: int) -> Message:
    return N_(
        "Messages that were stored are missing: {count}. Tables send theirs again. See the alerts for which ones, "
        "and look for a newer copy of the event’s folder.",
        count=count,
    )


STAGE: Final[Mapping[str, Message]] = {
    "in": N_("Result in"),
    "missing": N_("Missing from an earlier round"),
    "to_come": N_("Upcoming"),
    "offline_unsent": N_("Offline, messages unsent"),
}

NEED: Final[Mapping[str, Message]] = {
    "calling": N_("Calls: {count}"),
    "walls": N_("Walls to check: {count}"),
    "offline_unsent": N_("Offline, unsent: {count}"),
    "over": N_("Over time: {count}"),
    "lost": N_("Offline: {count}"),
    "missing": N_("Earlier round missing: {count}"),
    "gaps": N_("Messages missing: {count}"),
    "unwell": N_("Device faults: {count}"),
}

WALLS: Final[Mapping[str, Message]] = {
    "fouled": N_("Tiles not as dealt"),
    "unverified": N_("Walls not verified"),
}

COMMAND: Final[Mapping[str, Message]] = {
    "clear_call": N_("Clear call"),
    "pause": N_("Pause"),
    "resume": N_("Resume"),
    "extra_time": N_("Extra time"),
    "reopen": N_("Enter result again"),
    "admit": N_("Arbiter access at the table"),
    "quiet_light": N_("Dark hall: quiet light"),
    "normal_light": N_("Normal light again"),
}

ORDER_FATE: Final[Mapping[str, Message]] = {
    "waiting": N_("Tables that have not received it yet: {tables}"),
    "refused": N_("Tables that did not carry this out: {tables}"),
    "passed": N_("Tables that carried out a later order instead: {tables}. Give this one again if you still need it."),
    "forgotten": N_("Tables that no longer report whether they carried this out: {tables}"),
}

ORDER_REFUSED: Final[Mapping[str, Message]] = {
    "next_deal_begun": N_(
        "Tables that had already gone on to the next deal: {tables}. Nothing was changed there. Correct the earlier "
        "result with a ruling."
    ),
    "nothing_recorded": N_("Tables that have no result to enter again: {tables}. Nothing was changed there."),
    "riichi_take_back": N_(
        "Tables playing a riichi session: {tables}. Nothing was changed there. Take the last hand back at the table."
    ),
    "no_play": N_(
        "Tables where no deal is under way: {tables}. No time was added. Give the order again once the deal has begun."
    ),
}
"""Why tables refused an order, by code, and what to do instead."""

WIN: Final[Mapping[str, Message]] = {
    "discard": N_("Won on a discard"),
    "self_drawn": N_("Self-drawn"),
    "draw": N_("Draw"),
}

PAPER_TAKEN: Final[Mapping[str, Message]] = {
    "taken": N_("saved; it counts now"),
    "there_already": N_("already there, with the same result"),
    "first": N_("entered; waiting for a second person"),
    "agrees": N_("both entries agree; it counts now"),
    "differs": N_("the two entries differ: an arbiter has to decide, above"),
}

ROLE: Final[Mapping[str, Message]] = {
    "head_arbiter": N_("Head arbiter"),
    "table_arbiter": N_("Table arbiter"),
    "organiser": N_("Organiser"),
    "display": N_("Display"),
}

TOKEN_ROLE: Final[Mapping[str, Message]] = {
    "public": N_("Public information"),
    "arbiter": N_("Everything, including embargoed results"),
    "monitor": N_("State of machines and programs"),
}

DESCRIPTIONS: Final[Mapping[str, Message]] = {
    "head_arbiter": N_("can see and do everything"),
    "table_arbiter": N_("can see the whole room, give orders to tables, make rulings and enter result sheets"),
    "organiser": N_("can set up the event, pair devices and print blank sheets; sees public results"),
    "display": N_("a screen in the hall; sees public results"),
    "correct": N_("Replaces the outcome that was entered. The points are recalculated."),
    "void": N_("The play counts for nobody and is left out of the datum. Fines still apply."),
    "adjusted": N_(
        "The play is left out of the datum. Each player gets a fixed number of IMPs instead, by fault or as you decide."
    ),
    "award": N_("IMPs added to what was played; a negative number deducts them."),
    "fine": N_(
        "What was done wrong, and what it costs: a warning, a dead hand, or IMPs, which do not affect the datum."
    ),
    "appeal": N_("Players appeal against this ruling. It counts until the committee has decided."),
    "appeal_decided": N_(
        "The committee’s decision and its reason. "
        "If it changes the ruling, take the ruling back afterwards, or make a new one."
    ),
    "fouled": N_(
        "Tables on the same line had the same tiles and are compared with each other. Tables you do not list stay "
        "grouped as they were restored."
    ),
    "seats_played": N_("Correct who sat where. The points stay with the seats."),
    "deal_played": N_("The deal that was actually played, or is to be played. The play is compared with that deal."),
    "taken_over": N_(
        "What the table sent out of order counts as if it had come in order. Ask the players and the table arbiter "
        "before you let it count."
    ),
    "discarded": N_(
        "What the table sent out of order never counts. What it sends of this play in order counts as usual."
    ),
    "substitute": N_(
        "Someone else takes a player’s seats from a round on and plays for that player; all IMPs still count for "
        "the player. The tables are informed. To bring the player back, enter the player’s own name."
    ),
    "withdrawn": N_(
        "A player has left and is not replaced: plays from that round on without a result are not played but "
        "adjusted for all four players. The tables are informed. If you add a substitute later, those plays are on "
        "again."
    ),
    "deadline": N_(
        "Until then arbiters may make corrections; afterwards only the head arbiter can. "
        "Minutes count from when you publish; 0 ends corrections at once."
    ),
    "undo": N_("The ruling no longer counts. It remains in the history, and taking it back can itself be undone."),
}

PLAYER_FIELD: Final[Mapping[str, Message]] = {
    "country": N_("Country"),
    "club": N_("Club"),
    "national": N_("National no."),
    "ema": N_("EMA no."),
    "first_name": N_("First name"),
    "last_name": N_("Last name"),
}

PROFILE: Final[Mapping[str, Message]] = {
    "oedmc-2020": N_("OEDMC 2020"),
    "mcr": N_("Standard MCR"),
    "mahjongsoft": N_("Mahjongsoft"),
    "zero-sum": N_("Zero-sum"),
    "riichi-basic": N_("Riichi, basic"),
    "riichi-montreal": N_("Riichi, Montréal club"),
    "riichi-tenhou": N_("Riichi, as on Tenhou"),
}
"""The rules that are shipped; other rules are shown by their id."""

KEYING: Final[Mapping[str, Message]] = {
    "single": N_("one person enters each sheet and checks it"),
    "double": N_("two people enter each sheet independently"),
}

HALLS_BY: Final[Mapping[str, Message]] = {
    "": N_("in one place"),
    "club": N_("everybody plays in the hall of their club"),
    "country": N_("everybody plays in the hall of their country"),
}

RULING: Final[Mapping[str, Message]] = {
    "player_corrected": N_("Player corrected"),
    "title_corrected": N_("Title corrected"),
    "sessions_corrected": N_("Sessions corrected"),
    "plan_changed": N_("Seating changed"),
    "final_declared": N_("Standings declared final"),
    "checked_in": N_("Check-in"),
    "paused": N_("Paused"),
    "resumed": N_("Resumed"),
    "time_added": N_("Extra time"),
    "let_in": N_("Let in"),
    "left": N_("Left"),
    "pin_wrong": N_("Wrong PIN"),
    "correct": N_("Correction"),
    "void": N_("Void"),
    "adjusted": N_("Adjusted"),
    "award": N_("Award"),
    "fine": N_("Fine"),
    "dead_hand": N_("Dead hand"),
    "warning": N_("Warning"),
    "appeal": N_("Appeal"),
    "appeal_decided": N_("Decision on an appeal"),
    "fouled": N_("Fouled deal"),
    "seats_played": N_("Seating"),
    "deal_played": N_("Deal played"),
    "substitute": N_("Substitute"),
    "withdrawn": N_("Withdrawn"),
    "reopen": N_("Reopened"),
    "taken_over": N_("Counted after all"),
    "discarded": N_("Left out"),
    "deadline": N_("End of corrections"),
    "undo": N_("Taken back"),
}

VERDICT: Final[Mapping[str, Message]] = {
    "upheld": N_("The ruling is upheld"),
    "changed": N_("The ruling is changed"),
    "rejected": N_("The appeal is rejected"),
}

EFFECTS_COMING: Final[Mapping[str, Message]] = {
    "substitute": N_("Plays with the substitute: {count}"),
    "withdrawn": N_("Plays that will not be played: {count}"),
}

FAULT: Final[Mapping[str, Message]] = {
    "nobody": N_("nobody’s fault"),
    "others": N_("opponents’ fault"),
    "own": N_("own fault"),
}

RIICHI_WIN: Final[Mapping[str, Message]] = {
    "discard": N_("Ron"),
    "self_drawn": N_("Tsumo"),
    "draw": N_("Exhaustive draw"),
    "abort": N_("Aborted"),
}

RIICHI_COLUMN: Final[Mapping[str, Message]] = {
    "han": N_("Han"),
    "fu": N_("Fu"),
    "yakuman": N_("Yakuman"),
}

RIICHI: Final[Mapping[str, Message]] = {
    "tenpai": N_("Tenpai (if the hand was drawn)"),
    "nagashi": N_("Nagashi mangan (if the hand was drawn)"),
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
    "gap": N_("Between two thresholds"),
    "rounding": N_("Datum"),
}

WHAT_IF_OPTION: Final[Mapping[str, Message]] = {
    "method_datum": N_("with the datum"),
    "method_cross": N_("with every other play"),
    "own_score_included": N_("included in the datum"),
    "own_score_excluded": N_("not included in the datum"),
    "gap_midpoint": N_("midpoint"),
    "gap_floor": N_("lower threshold"),
    "rounding_none": N_("exact"),
    "rounding_tenth": N_("to one decimal"),
    "rounding_whole": N_("to a whole number"),
}

WIRE: Final[Mapping[str, Message]] = {
    "in": N_("to the scorer"),
    "out": N_("from the scorer"),
}

ADJUSTMENTS: Final[Mapping[str, Message]] = {
    "awards": N_("Awards: {list}"),
    "no_awards": N_("No awards"),
    "fines": N_("Fines: {list}"),
    "no_fines": N_("No fines"),
}

PLAN_FIELD: Final[Mapping[str, Message]] = {
    **PLAYER_FIELD,
    "name": N_("Name"),
    "without_standing": N_("Plays without standing"),
    "first_round": N_("From round"),
    "last_round": N_("To round"),
    "starts": N_("Begins"),
    "play_minutes": N_("Minutes per play"),
    "title": N_("Title"),
}

EXPORT: Final[Mapping[str, Message]] = {
    "standings.pdf": N_("Standings (print)"),
    "travellers.pdf": N_("Travellers (print)"),
    "booklet.pdf": N_("Booklet to take home (print)"),
    "replay.html": N_("Replay of all plays that are known step by step"),
    "certificates.pdf": N_("Certificates (print)"),
    "standings-table.csv": N_("Standings (spreadsheet)"),
    "team-standings.csv": N_("Standings of teams (spreadsheet)"),
    "results.csv": N_("All plays (spreadsheet)"),
    "ema.csv": N_("Report for the European Mahjong Association"),
    "next-event.csv": N_("For the next event: standings with players and teams"),
    "plays.pmn": N_("A record of each play (PMN)"),
    "plays.jsonl": N_("Plays for homologue score"),
    "event.json": N_("All data in one JSON document"),
}

FACT: Final[Mapping[str, Message]] = {
    "restored": N_("walls restored"),
    "seated": N_("players checked in"),
    "overridden": N_("allowed to continue by an arbiter"),
    "confirmed": N_("tiles confirmed"),
    "declared": N_("hu declared"),
    "result": N_("result"),
    "ruled": N_("ruling at the table"),
    "riichi_hand": N_("entry of the session"),
    "riichi_taken_back": N_("entry taken back"),
}
"""What a table reports about a play."""

RECORD_TEXTS: Final[Mapping[str, Message]] = {
    AT_THE_TABLE: N_("arbiter with the PIN"),
    FIRST_LINK_USER: N_("the first link"),
    "the hand was not valid": N_("hand not valid"),
    "entered wrongly": N_("entered wrongly"),
    "a button or the camera failed": N_("button or camera"),
    "tiles lay wrong": N_("tiles misplaced"),
    "a tile was seen": N_("a tile was exposed"),
    "a player was missing or late": N_("player missing"),
    "the time is over": N_("time is up"),
    "another reason, given to the desk": N_("another reason, given to the desk"),
}
"""Authors and reasons that the program itself writes into the record, in English. Any others are written by people."""


def recorded_text(_: HtmlTranslator, text: str) -> Markup:
    """Translate an author or reason in the record if the program wrote it; return other text as it is."""
    return _(RECORD_TEXTS[text]) if text in RECORD_TEXTS else Markup.escape(text)


def account_text(_: HtmlTranslator, text: str) -> Markup:
    """Translate the role in an alert's detail of the form `role: full name`; return other details as they are."""
    role, between, full = text.partition(": ")
    return _(ROLE[role]) + between + full if role in ROLE else Markup.escape(text)
