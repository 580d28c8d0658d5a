"""Names whose letters no printed page has, such as Arabic or Thai: they are printed as federations spell them.

ReportLab shapes such letters with three packages and a font each that the desk does not have otherwise. The list of
players has first and last name in Latin letters anyway, for reports to federations.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from broker.event import Event, ListedPlayer, spelling
from broker.event.readiness import Finding
from broker.export.pdf import SPELLINGS, is_printable
from broker.i18n import N_
from broker.rules import RuleError


@contextmanager
def spelled(event: Event) -> Iterator[None]:
    """Print an event's names as its list of players spells them where they could not be printed."""
    token = SPELLINGS.set(_spellings(event))
    try:
        yield
    finally:
        SPELLINGS.reset(token)


@lru_cache(maxsize=4)
def _spellings(event: Event) -> dict[str, str]:
    """Return what is printed, by name; the longest name first, for one may be part of another."""
    names = {one.name: event.listing_of(one.id).spelling for one in event.known.values() if not is_printable(one.name)}
    return {name: names[name] for name in sorted(names, key=len, reverse=True) if _can_stand(names[name])}


@lru_cache(maxsize=4)
def unprintable_names(event: Event) -> tuple[tuple[str, str], ...]:
    """Return id and name of the players of whom a printed page has no letters, and no spelling."""
    known = _spellings(event)
    return tuple(
        (one.id, one.name) for one in event.players.values() if one.name not in known and not is_printable(one.name)
    )


def unprintable_text(event: Event) -> str:
    """Return what a command says when it has printed; nothing if all names could be."""
    names = ", ".join(f"{id_} ({name})" for id_, name in unprintable_names(event))
    advice = "first_name and last_name in Latin letters are printed instead (players.csv, or a correction)"
    return f"no letters to print these names: {names}; {advice}" if names else ""


def spelling_notes(listed: Iterable[ListedPlayer]) -> list[Finding]:
    """Return which names of a list cannot be printed and are not spelled."""
    left = [
        one
        for one in listed
        if not is_printable(one.player.name) and not _can_stand(spelling(one.first_name, one.last_name))
    ]
    notes = (
        RuleError("name_unprintable", N_("{where}: {problem}", where=one.player.id, problem=one.player.name))
        for one in left
    )
    return [(one.code, one.text) for one in notes]


def _can_stand(spelling: str) -> bool:
    return bool(spelling) and is_printable(spelling)
