"""Which tiles complete a riichi hand, and when furiten prevents a waiting player from winning on a discard (MONTREAL).

A hand is complete with four sets and a pair, seven different pairs, or thirteen orphans. There are three kinds of
furiten: a tile of the wait is among the player's own discards, including claimed ones (RIICHI-PLAY), until the wait
changes; one was discarded since the end of the player's last turn; or one was discarded since the player's riichi.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mahjong.agari import Agari

from broker.errors import RuleError
from broker.rules.deal import COPIES, KINDS
from broker.rules.mcr.hand import STARTING_TILES

ORPHANS: Final = frozenset(kind for kind in KINDS if kind[1] == "z" or kind[0] in "19")
"""The terminals and honours."""

INDEX: Final = {kind: index for index, kind in enumerate(KINDS)}


def tile_kind(tile: str) -> str:
    """Return a tile's face, with a red five as a five. Raises RuleError `unknown_tile`."""
    kind = f"5{tile[1]}" if len(tile) == 2 and tile[0] == "0" else tile  # noqa: PLR2004 - rank and suit
    if kind not in INDEX:
        raise RuleError("unknown_tile", f"{tile[:20]!r} is no tile: 1m..9m, 1p..9p, 1s..9s, 1z..7z, red 0m 0p 0s")
    return kind


def riichi_waits(concealed: Sequence[str], melds: Iterable[Sequence[str]] = ()) -> tuple[str, ...]:
    """Return the tiles that would complete a hand after a discard, without those of which it has all four.

    `concealed`: 13 tiles and three less for each meld. Raises RuleError `unknown_tile`, `wrong_tile_count` or
    `five_of_a_tile`.
    """
    laid_down = [tuple(map(tile_kind, meld)) for meld in melds]
    held = Counter(map(tile_kind, concealed))
    if held.total() != STARTING_TILES - 3 * len(laid_down):
        raise RuleError("wrong_tile_count", f"{held.total()} concealed tiles and {len(laid_down)} melds")
    all_of = held + Counter(tile for meld in laid_down for tile in meld)
    if all_of and max(all_of.values()) > COPIES:
        raise RuleError("five_of_a_tile", f"a set has {COPIES} of each tile")
    return tuple(kind for kind in KINDS if all_of[kind] < COPIES and _completes(held, kind))


def orphans_wait(concealed: Sequence[str]) -> bool:
    """Return whether a hand waits for thirteen orphans, which may rob a concealed kan (MONTREAL)."""
    kinds = {*map(tile_kind, concealed)}
    return kinds <= ORPHANS and len(kinds) >= STARTING_TILES - 1


def _completes(held: Counter[str], kind: str) -> bool:
    counts = [0] * len(KINDS)
    for tile, number in held.items():
        counts[INDEX[tile]] = number
    counts[INDEX[kind]] += 1
    return bool(Agari.is_agari(counts))


Furiten = Literal["own_discard", "same_turn", "riichi"]


@dataclass(frozen=True, slots=True)
class PassedTile:
    """A tile that a player has discarded, perhaps with riichi, or made a kan of."""

    player: int
    tile: str
    riichi: bool = False
    kan: Literal["", "added", "concealed"] = ""
    """`added`: added to a pon, so others may rob it. `concealed`: only thirteen orphans may rob it."""


def furiten(
    player: int, wait: Collection[str], seen: Iterable[PassedTile], *, orphans: bool = False
) -> tuple[Furiten, ...]:
    """Return the reasons why a player may not declare ron; empty if there are none.

    `seen`: every tile that could have been won on and was passed, in order. A turn ends with the player's own discard,
    also after a call; tiles passed before it no longer count, except in riichi. `orphans`: the player waits for
    thirteen orphans.
    """
    tiles = tuple(one for one in seen if orphans or one.kan != "concealed")
    waiting = {tile_kind(tile) for tile in wait}
    own = {tile_kind(one.tile) for one in tiles if one.player == player and not one.kan}
    found: list[Furiten] = ["own_discard"] if waiting & own else []
    if waiting & _passed(tiles, player, _last_turn(tiles, player)):
        found.append("same_turn")
    declared = _riichi(tiles, player)
    if declared is not None and waiting & _passed(tiles, player, declared):
        found.append("riichi")
    return tuple(found)


def may_ron(
    player: int, wait: Collection[str], seen: Iterable[PassedTile], tile: str, *, orphans: bool = False
) -> bool:
    """Return whether wait and furiten let a player win on another player's tile. Yaku are not checked."""
    return tile_kind(tile) in {tile_kind(one) for one in wait} and not furiten(player, wait, seen, orphans=orphans)


def _passed(seen: Sequence[PassedTile], player: int, since: int) -> set[str]:
    return {tile_kind(one.tile) for one in seen[since:] if one.player != player}


def _last_turn(seen: Sequence[PassedTile], player: int) -> int:
    """Return the index after the player's last discard."""
    ends = [at for at, one in enumerate(seen) if one.player == player and not one.kan]
    return ends[-1] + 1 if ends else 0


def _riichi(seen: Sequence[PassedTile], player: int) -> int | None:
    declared = [at for at, one in enumerate(seen) if one.player == player and one.riichi]
    if len(declared) > 1:
        raise RuleError("riichi_twice", f"player {player} declares riichi a second time")
    return declared[0] + 1 if declared else None
