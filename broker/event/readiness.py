"""Checks whether an event can start: all problems that prevent it, and notes on what may be a mistake."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from broker.errors import BadEvent, RuleError, ScorerError, flatten_errors, raise_errors
from broker.event.deals import (
    COMMITMENT,
    DEALS_KEY,
    draw_of_deals,
    read_commitment,
    read_draws,
    read_shares,
    refuse_altered_deals,
    refuse_other_event,
    tile_sets,
)
from broker.event.event import open_event
from broker.event.files import DEALS, SETS, DealRecord, read_deals
from broker.event.halls import read_halls, refuse_travellers
from broker.event.plan import BookedPlay, Plan, read_plan, session_problems
from broker.event.players import ListedPlayer, countries, read_players
from broker.event.stages import section_plays
from broker.files import PLAYERS
from broker.i18n import N_, name_key

Finding = tuple[str, str]
"""The code and text of a problem or note."""


EARLY_ROUNDS: Final = 2
"""With so few rounds, nobody expects standings before the last one."""


def start_problems(folder: Path) -> list[Finding]:
    """Return everything that keeps an event from starting; empty if it may start."""
    found = [*_findings(lambda: open_event(folder)), *_findings(lambda: _refuse_uncompared(read_plan(folder)))]
    found += _findings(lambda: _refuse_sessions(read_plan(folder)))  # can be checked before there are deals
    if (folder / SETS).exists():
        found += _findings(lambda: tile_sets.check_sets(folder))
    if (folder / PLAYERS).exists():
        found += _findings(lambda: read_players(folder / PLAYERS))
    found += _findings(lambda: refuse_travellers(read_plan(folder), read_halls(folder)))
    found += _findings(lambda: refuse_other_event(folder))
    if (folder / DEALS).exists():
        found += _findings(lambda: refuse_altered_deals(folder))
        found += _findings(lambda: _refuse_shared_sets(read_plan(folder), read_deals(folder)))
    if (folder / COMMITMENT).exists():
        found += _findings(lambda: draw_of_deals(folder))
    if (folder / DEALS).exists() and not (folder / COMMITMENT).exists():
        found.append(
            (
                "not_committed",
                N_("the deals have no commitment ({file}): run `homologue deal commit` to make it", file=COMMITMENT),
            )
        )
    return list(dict.fromkeys(found))


def start_notes(plan: Plan, listed: Iterable[ListedPlayer] = ()) -> list[Finding]:
    """Return what may be a mistake in a plan, but does not keep the event from starting.

    `listed` are its players from `players.csv`.
    """
    seated = (*(play.players for play in plan.plays), *(session.players for session in plan.riichi))
    playing = {id_ for players in seated for id_ in players.values()}
    idle = [player for player in plan.players if player.id not in playing] if playing else []
    odd = [
        RuleError("player_without_play", N_("{id} ({name}) has nothing to play", id=player.id, name=player.name))
        for player in idle
    ]
    return [(note.code, note.text) for note in (*odd, *_few_tables(plan), *_late_standings(plan))] + player_list_notes(
        listed
    )


def deal_notes(folder: Path) -> list[Finding]:
    """Return notes on an event's deals: deals that are not sealed, a key without shares, and open or unused draws."""
    try:
        return [(note.code, note.text) for note in _notes_on_deals(folder)]
    except (BadEvent, RuleError, OSError):
        return []  # `start_problems` reports it


def _notes_on_deals(folder: Path) -> Iterator[RuleError]:
    deals = read_deals(folder) if (folder / DEALS).exists() else ()
    if plain := [deal.number for deal in deals if not deal.sealed]:
        text = N_(
            "not sealed, so whoever can read {file} knows them: deals {deals}", file=DEALS, deals=_ranges(sorted(plain))
        )
        yield RuleError("not_sealed", text)
    elif deals and not read_shares(folder):
        yield RuleError(
            "no_shares",
            N_("nobody has a share of {file}: if this machine is lost, no deal can be opened", file=DEALS_KEY),
        )
    draws = read_draws(folder)
    if draws and draws[-1].is_open:
        yield RuleError("draw_open", N_("a draw has already been announced: enter its words, or abandon it"))
    used = read_commitment(folder / COMMITMENT).draw if (folder / COMMITMENT).exists() else None
    if others := [
        draw.announcement.number
        for draw in draws
        if not draw.is_open and (used is None or draw.announcement.number != used.number)
    ]:
        yield RuleError("draws_before", N_("announced, but not played: draws {draws}", draws=_ranges(others)))


def player_list_notes(listed: Iterable[ListedPlayer]) -> list[Finding]:
    """Return likely mistakes in a list of players: one name twice, or an unknown country."""
    known = tuple(listed)
    return [(note.code, note.text) for note in (*_named_alike(known), *_unknown_countries(known))]


def _named_alike(listed: Iterable[ListedPlayer]) -> Iterator[RuleError]:
    """Yield a note for each name that several players share.

    Two people may share a name, but more often one person is listed twice, and one of the two players never comes.
    """
    of_name: dict[str, list[ListedPlayer]] = {}
    for entry in listed:
        of_name.setdefault(name_key(entry.player.name), []).append(entry)
    for several in of_name.values():
        if len(several) > 1:
            ids = ", ".join(entry.player.id for entry in several)
            yield RuleError("named_alike", N_("{where}: {problem}", where=several[0].player.name, problem=ids))


def _unknown_countries(listed: Iterable[ListedPlayer]) -> Iterator[RuleError]:
    of_code: dict[str, list[str]] = {}
    for entry in listed:
        of_code.setdefault(entry.country, []).append(entry.player.id)
    for code in sorted(of_code.keys() - countries().keys() - {""}):
        yield RuleError("country_unknown", N_("{where}: {problem}", where=code, problem=", ".join(of_code[code])))


def _refuse_uncompared(plan: Plan) -> None:
    """Raise RuleError `nobody_compared` if no deal is played twice, and the plan does not say that this is intended."""
    counts = [Counter(play.deal for play in plays) for plays in _compared(plan)]
    if any(counts) and max(max(at.values()) for at in counts if at) == 1 and not plan.uncompared:
        raise RuleError(
            "nobody_compared", N_("every deal is played at one table only: nobody is compared, and every IMP is 0")
        )


def _refuse_sessions(plan: Plan) -> None:
    """Raise an ExceptionGroup of RuleErrors `session_rounds_wrong` if the sessions do not fit the movement."""
    raise_errors(session_problems(plan) if plan.plays else ())


def _refuse_shared_sets(plan: Plan, deals: Iterable[DealRecord]) -> None:
    """Raise RuleError `set_at_two_tables` if two deals of one round need the same tile set.

    One deal at several tables is allowed, since it has a carrier for each.
    """
    set_of = {deal.number: deal.set for deal in deals}
    deal_at: dict[tuple[int, int], int] = {}
    for play in plan.plays:
        number = set_of.get(play.deal)
        other = deal_at.setdefault((play.round, number), play.deal) if number is not None else play.deal
        if other != play.deal:
            text = N_(
                "round {round}: deals {one} and {other} both use set {set}",
                round=play.round,
                one=other,
                other=play.deal,
                set=number or 0,
            )
            raise RuleError("set_at_two_tables", text)


def _few_tables(plan: Plan) -> Iterator[RuleError]:
    """Yield a note on the deals that not all tables play."""
    for listed in _compared(plan):
        tables, at = len({play.table for play in listed}), Counter(play.deal for play in listed)
        for count in sorted(set(at.values()) - {tables}):
            deals = _ranges(sorted(deal for deal, plays in at.items() if plays == count))
            if count == 1:
                yield RuleError(
                    "deal_not_compared",
                    N_("played at one table only, nobody is compared: deals {deals}", deals=deals),
                )
            else:
                text = N_(
                    "compared at {count} of {tables} tables: deals {deals}", count=count, tables=tables, deals=deals
                )
                yield RuleError("deal_at_few_tables", text)


def _late_standings(plan: Plan) -> Iterator[RuleError]:
    """Yield a note for each stage in which no deal is over before the last round.

    Until then only arbiters see standings.
    """
    for stage, plays in _stages(plan):
        over: dict[int, int] = {}
        for play in plays:
            over[play.deal] = max(over.get(play.deal, 0), play.round)
        rounds = {play.round for play in plays}
        if len(rounds) > EARLY_ROUNDS and min(over.values()) == max(rounds):
            late = (
                N_("{stage}: no deal is over before round {round}", stage=stage, round=max(rounds))
                if stage
                else N_("no deal is over before round {round}", round=max(rounds))
            )
            yield RuleError("standings_late", late)


def _stages(plan: Plan) -> Iterable[tuple[str, list[BookedPlay]]]:
    """Yield the name and plays of each stage; the name is empty if the event has no stages."""
    for stage in plan.stages:
        yield stage.name, [play for play in plan.plays if play.round in stage.rounds]
    if not plan.stages:
        yield "", [*plan.plays]


def _compared(plan: Plan) -> list[list[BookedPlay]]:
    """Return the plays of each section of each stage."""
    return [plays for _, _, plays in section_plays(plan)] if plan.stages else [[*plan.plays]]


def _ranges(numbers: Iterable[int]) -> str:
    """Return ascending numbers as ranges, such as `1-4 7`."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return " ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _findings(check: Callable[[], object]) -> Iterator[Finding]:
    try:
        check()
    except BadEvent as bad:
        yield from [(finding.code, finding.text) for finding in bad.found] or [(bad.code, str(bad))]
    except (RuleError, ScorerError) as problem:
        for text in str(problem).removeprefix(f"{problem.code}: ").split("; "):
            yield problem.code, text
    except ExceptionGroup as several:
        yield from ((finding.code, finding.text) for finding in flatten_errors(several))
    except OSError as failure:
        yield "file_failed", f"{failure.filename or 'the folder'}: {failure.strerror}"
