"""Furiten: a player who waits for a tile may be kept from winning on a discard (MONTREAL).

Three kinds: a tile of the wait lies among the own discards, claimed ones too (RIICHI-PLAY), until the wait changes; a
tile of the wait went by since the end of the own last turn; a tile of the wait went by since the own riichi.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from broker.rules.errors import RuleError
from broker.rules.riichi.waits import kind_of

Furiten = Literal["own_discard", "same_turn", "riichi"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A tile that a player has discarded, perhaps with riichi, or made a kan of."""

    player: int
    tile: str
    riichi: bool = False
    kan: Literal["", "added", "concealed"] = ""
    """`added` to a pon, for others to rob; `concealed`: only thirteen orphans may."""


def furiten(player: int, wait: Collection[str], seen: Iterable[Seen], *, orphans: bool = False) -> tuple[Furiten, ...]:
    """Give why a player may not ron, empty where nothing forbids it.

    `seen`: everything that could have been won on, in order, and passed. A turn ends with the own discard, also after
    a call; then what went by before it is forgotten, but for riichi. `orphans`: the player waits for thirteen orphans.
    """
    tiles = tuple(one for one in seen if orphans or one.kan != "concealed")
    waiting = {kind_of(tile) for tile in wait}
    own = {kind_of(one.tile) for one in tiles if one.player == player and not one.kan}
    found: list[Furiten] = ["own_discard"] if waiting & own else []
    if waiting & _passed(tiles, player, _last_turn(tiles, player)):
        found.append("same_turn")
    declared = _riichi(tiles, player)
    if declared is not None and waiting & _passed(tiles, player, declared):
        found.append("riichi")
    return tuple(found)


def may_ron(player: int, wait: Collection[str], seen: Iterable[Seen], tile: str, *, orphans: bool = False) -> bool:
    """Say whether a player may win on a tile of another, as far as wait and furiten go. Yaku are the hand's matter."""
    return kind_of(tile) in {kind_of(one) for one in wait} and not furiten(player, wait, seen, orphans=orphans)


def _passed(seen: Sequence[Seen], player: int, since: int) -> set[str]:
    return {kind_of(one.tile) for one in seen[since:] if one.player != player}


def _last_turn(seen: Sequence[Seen], player: int) -> int:
    """Give the place after the own last discard."""
    ends = [at for at, one in enumerate(seen) if one.player == player and not one.kan]
    return ends[-1] + 1 if ends else 0


def _riichi(seen: Sequence[Seen], player: int) -> int | None:
    declared = [at for at, one in enumerate(seen) if one.player == player and one.riichi]
    if len(declared) > 1:
        raise RuleError("riichi_twice", f"player {player} declares riichi a second time")
    return declared[0] + 1 if declared else None
