"""Results from plays in plain JSON, a line each, as `homologue score` reads them."""

from collections.abc import Iterator
from pathlib import Path

from broker.calculators.plays import Plays, read_plays
from broker.calculators.stream import lines, lines_of
from broker.contract.messages import Standing
from broker.records.results import OfNoPlay, Row, of_no_play, rows
from broker.rules.errors import RuleError
from broker.rules.profile import Profile
from broker.scorer import standings
from broker.scoring import individual
from broker.scoring.ledger import Ledger

STANDARD_INPUT = Path("-")


def read_lines(source: Path, profile: Profile) -> Plays:
    """Read all plays. Raises RuleError: the first refusal, since without that play all would be wrong."""
    plays = read_plays(_lines(source), profile)
    if plays.refusals:
        raise plays.refusals[0]
    return plays


def _lines(source: Path) -> Iterator[tuple[int, str]]:
    return lines() if source == STANDARD_INPUT else _of_file(source)


def _of_file(source: Path) -> Iterator[tuple[int, str]]:
    try:
        with source.open("rb") as file:
            yield from lines_of(file)
    except OSError as error:
        raise RuleError("unreadable", f"{source}: {error.strerror}") from None


def rows_of(plays: Plays, profile: Profile) -> list[Row | OfNoPlay]:
    """Give a row for each seat of each play that has a result or a ruling, then one for each player's IMPs of none."""
    ledger = Ledger.of(plays.counted, profile)
    return [*rows(ledger.groups, ledger.unplayed.values()), *of_no_play(plays.beside)]


def standings_of(plays: Plays, profile: Profile) -> tuple[Standing, ...]:
    """Rank the players of all plays, those to come too."""
    ledger = Ledger.of(plays.counted, profile, plays.waiting).with_adjustments(plays.beside)
    return standings.rows(individual.standings(ledger), {})
