"""Deals and tile sets of an event that has not begun: mixed, brought along, taken out. Nobody is shown a face."""

import secrets
from pathlib import Path
from typing import Final

from broker.contract.words import SEATS
from broker.organiser.deals import listed, made, sets
from broker.organiser.deals.committed import COMMITMENT
from broker.organiser.events.setting_up import from_file, settled
from broker.rules.errors import RuleError
from broker.rules.rule_books import counts_red
from broker.scorer.errors import BadEvent
from broker.scorer.folder import DEALS, SETS, read_registry
from broker.scorer.own_rules import read_own

OUT: Final = "taken-out"
"""Before the name of what was taken out: something may have been laid or printed by it."""


def make_deals(folder: Path) -> str:
    """Mix the deals of the movement, and the sets that they lack; give the root of the commitment.

    Red fives are in the deals where the rules count them. Raises RuleError `no_plays`, `deals_exist` and the like.
    """
    plan = settled(folder)
    if not plan.plays:
        raise RuleError("no_plays", "there is no movement yet: it says how many deals there are")
    made.refuse_second(folder)
    red = counts_red(read_own(folder, ()).of_plays(plan.profile))
    chance = secrets.SystemRandom()
    last = max(play.deal for play in plan.plays)
    deals = made.salted(made.new_deals(last, made.BY_ROUNDS, SEATS, (), chance, red=red))
    known = read_registry(folder) if (folder / SETS).exists() else {}
    sets.add(folder, sets.mixed({deal.set for deal in deals} - set(known), chance, red=red))
    return made.keep(folder, plan.name, deals)


def take_deals(folder: Path, text: str) -> str:
    """Put deals of one's own in (CSV, as `homologue deal import` reads it); give the root of the commitment.

    Raises RuleError as `make_deals`, or an ExceptionGroup of them that name the lines.
    """
    plan = settled(folder)
    made.refuse_second(folder)
    return made.keep(folder, plan.name, made.salted(from_file(text, "deals.csv", listed.read_list)))


def take_sets(folder: Path, text: str) -> int:
    """Put sets in whose tiles have numbers already (CSV: set, serial, face); give how many.

    Raises RuleError `event_started`, or an ExceptionGroup of `set_exists` and those that name the lines.
    """
    settled(folder)
    brought = from_file(text, "sets.csv", lambda path: sets.read_sets(path, None))
    sets.add(folder, brought)
    return len(brought)


def take_out(folder: Path) -> None:
    """Take the deals and their commitment out, so that others can be made. The files stay, under other names.

    Where it is cut short, it is asked for again. Raises RuleError `event_started`, `no_deals`.
    """
    settled(folder)
    there = [folder / name for name in (DEALS, COMMITMENT) if (folder / name).exists()]
    if not there:
        raise RuleError("no_deals", "there are no deals to take out")
    number = 1 + len([*folder.glob(f"{OUT}-*")])
    for path in there:
        path.rename(path.with_name(f"{OUT}-{number}-{path.name}"))


def deals_made(folder: Path) -> bool:
    """Say whether there are deals."""
    return (folder / DEALS).exists()


def sets_kept(folder: Path) -> int:
    """Give how many sets have been entered; none where what is kept of them cannot be read."""
    try:
        return len(read_registry(folder)) if (folder / SETS).exists() else 0
    except (BadEvent, OSError):
        return 0
