"""Players as arbiters write them in a form: by id, or by name as far as it tells one from the others. Pure."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from broker.contract.plans import Player
from broker.contract.wire import Refused
from broker.contract.words import SEATS

FIELDS: Final = ("player", *(f"seat-{seat}" for seat in SEATS))
"""Fields of forms that name a player."""

WORD: Final = re.compile(r"\w+")
NAMED: Final = 6
"""So many of those who may be meant are named."""


def identified(form: Mapping[str, str], players: Mapping[str, Player]) -> dict[str, str]:
    """Give a form with players by their ids. Raises Refused `nobody_of_event`, `player_ambiguous`."""
    return {
        name: player_of(value, players) if name in FIELDS and value.strip() else value for name, value in form.items()
    }


def player_of(written: str, players: Mapping[str, Player]) -> str:
    """Give the id of a player who is written as an id, as a name, or as words of a name; letters alone count.

    Raises Refused `nobody_of_event`, `player_ambiguous`.
    """
    found = those_of(written, players)
    if not found:
        raise Refused("nobody_of_event", f"nobody of this event is {written.strip()[:50]}")
    if len(found) > 1:
        listed = [f"{one.name} ({one.id})" for one in found[:NAMED]] + ["…"] * (len(found) > NAMED)
        raise Refused("player_ambiguous", f"it may be {', '.join(listed)}")
    return found[0].id


def those_of(written: str, players: Mapping[str, Player]) -> list[Player]:
    """Give all players who may be meant: by the id, or by the whole name, or else by words of it."""
    if written.strip() in players:
        return [players[written.strip()]]
    said = _words(written)
    named = [one for one in players.values() if said and said <= _words(one.name)]
    return [one for one in named if said == _words(one.name)] or named


def _words(name: str) -> frozenset[str]:
    """Give the words of a name, without accents and capitals."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    return frozenset(WORD.findall("".join(one for one in plain if not unicodedata.combining(one))))
