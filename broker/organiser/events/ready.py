"""Whether an event may start: everything is looked at, every problem is named, and what is odd is noted."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from broker.organiser.deals import sets
from broker.organiser.deals.committed import COMMITMENT, refuse_other_event
from broker.organiser.deals.files import flat
from broker.organiser.events.countries import CODES
from broker.organiser.events.listed import Listed, read_players
from broker.rules.errors import RuleError
from broker.scorer.errors import BadEvent, ScorerError
from broker.scorer.event import EVENT, Plan, open_event, read_plan
from broker.scorer.folder import DEALS, SETS
from broker.scorer.origins import PLAYERS
from broker.scorer.stored import open_stored
from broker.store.address import started
from broker.store.errors import StoreError

Problem = tuple[str, str]
"""Code and text."""


def problems(folder: Path) -> list[Problem]:
    """Give everything that keeps an event from starting; nothing: it may."""
    found = [*_of(lambda: open_event(folder)), *_of(lambda: _refuse_alone(read_plan(folder)))]
    if (folder / SETS).exists():
        found += _of(lambda: sets.check(folder))
    if (folder / PLAYERS).exists():
        found += _of(lambda: read_players(folder / PLAYERS))
    found += _of(lambda: refuse_other_event(folder))
    if (folder / DEALS).exists() and not (folder / COMMITMENT).exists():
        found.append(("not_committed", f"the deals have no {COMMITMENT}: `homologue deal commit` writes it"))
    return list(dict.fromkeys(found))


def notes(plan: Plan, listed: Iterable[Listed] = ()) -> list[Problem]:
    """Give what keeps an event from nothing, and may not be meant. `listed`: its players as `players.csv` has them."""
    seated = (*(play.players for play in plan.plays), *(session.players for session in plan.riichi))
    playing = {id_ for players in seated for id_ in players.values()}
    idle = [player for player in plan.players if player.id not in playing] if playing else []
    odd = [RuleError("player_without_play", f"{player.id} ({player.name}) has nothing to play") for player in idle]
    return [(one.code, one.text) for one in (*odd, *_few_tables(plan))] + notes_of_list(listed)


def notes_of_list(listed: Iterable[Listed]) -> list[Problem]:
    """Give what is likely a slip in a list of players: somebody twice, a country that there is not."""
    known = tuple(listed)
    return [(one.code, one.text) for one in (*_named_alike(known), *_of_no_country(known))]


def _named_alike(listed: Iterable[Listed]) -> Iterator[RuleError]:
    """Two people may well share a name; more often a line is there twice, and makes a player who never comes."""
    of_name: dict[str, list[Listed]] = {}
    for one in listed:
        of_name.setdefault(" ".join(one.player.name.casefold().split()), []).append(one)
    for several in of_name.values():
        if len(several) > 1:
            ids = ", ".join(one.player.id for one in several)
            yield RuleError("named_alike", f"{several[0].player.name}: {ids}")


def _of_no_country(listed: Iterable[Listed]) -> Iterator[RuleError]:
    of_code: dict[str, list[str]] = {}
    for one in listed:
        of_code.setdefault(one.country, []).append(one.player.id)
    for code in sorted(of_code.keys() - CODES - {""}):
        yield RuleError("country_unknown", f"{code}: {', '.join(of_code[code])}")


def corrections(folder: Path) -> list[Problem]:
    """Give what is called otherwise by now than `event.toml` has it, where a scorer has been started.

    That the store cannot be read is told as a note; what is wrong with the event is among its problems.
    """
    if not started(folder):
        return []
    try:
        stored = open_stored(folder)
    except ScorerError:
        return []
    except StoreError as problem:
        return [(problem.code, str(problem))]
    was, now = stored.room.planned.plan, stored.event.plan
    found = [f"the title: {now.title}, in {folder / EVENT} {was.title}"] if now.title != was.title else []
    for player in stored.event.corrections:
        name, planned = stored.event.name_of(player), stored.room.planned.name_of(player)
        other = f"{player}: {name}, in {folder / EVENT} {planned}"
        found.append(other if name != planned else f"{player} ({name}): country, club, numbers or parts of the name")
    found += [f"sessions: others than in {folder / EVENT}"] if now.sessions != was.sessions else []
    return [(one.code, one.text) for one in (RuleError("plan_corrected", text) for text in found)]


def _refuse_alone(plan: Plan) -> None:
    """Raise RuleError `nobody_compared` where no deal is played twice, and nobody has said that this is meant."""
    at = Counter(play.deal for play in plan.plays)
    if at and max(at.values()) == 1 and not plan.uncompared:
        raise RuleError(
            "nobody_compared", "every deal is played at one table only: nobody is compared, and every IMP is 0"
        )


def _few_tables(plan: Plan) -> Iterator[RuleError]:
    """Name the deals that not all tables play."""
    tables, at = len({play.table for play in plan.plays}), Counter(play.deal for play in plan.plays)
    for count in sorted(set(at.values()) - {tables}):
        deals = _ranges(sorted(deal for deal, plays in at.items() if plays == count))
        if count == 1:
            yield RuleError("deal_not_compared", f"played at one table only, nobody is compared: deals {deals}")
        else:
            yield RuleError("deal_at_few_tables", f"compared at {count} of {tables} tables: deals {deals}")


def _ranges(numbers: Iterable[int]) -> str:
    """Write numbers in order as `1-4 7`."""
    runs = [[one for _, one in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return " ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _of(look: Callable[[], object]) -> Iterator[Problem]:
    try:
        look()
    except BadEvent as bad:
        yield from [(one.code, one.text) for one in bad.found] or [(bad.code, str(bad))]
    except (RuleError, ScorerError) as problem:
        for text in str(problem).removeprefix(f"{problem.code}: ").split("; "):
            yield problem.code, text
    except ExceptionGroup as several:
        yield from ((one.code, one.text) for one in flat(several))
    except OSError as failure:
        yield "file_failed", f"{failure.filename or 'the folder'}: {failure.strerror}"
