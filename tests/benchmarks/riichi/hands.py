"""Random winning riichi hands with a possible situation; few suits, so that many can be read in several ways."""

from collections import Counter
from random import Random
from typing import Final

from broker.protocol import SEATS
from broker.rules import KINDS
from broker.rules.riichi.hand import RiichiHand, RiichiHandMeld, RiichiSituation

HONOURS: Final = KINDS[27:]
CHANCE_OF_MELD: Final = 0.3
RARE: Final = 0.06
LIKELY_RED: Final = 0.4


def winning_hand(chance: Random) -> tuple[RiichiHand, RiichiSituation]:
    """Return a hand and how it was won."""
    while True:
        hand = _seven_pairs(chance) if chance.random() < RARE else _regular(chance)
        said = situation(hand, chance) if hand else None
        if hand and said:
            return with_red(hand, chance), said


def with_red(hand: RiichiHand, chance: Random) -> RiichiHand:
    """Make a five of a suit red at random, and always if the hand contains all four of that suit."""
    fives = {tile: index for index, tile in enumerate(hand.all_tiles) if tile in ("5m", "5p", "5s")}
    red = {
        tile: index for tile, index in fives.items() if hand.all_tiles.count(tile) == 4 or chance.random() < LIKELY_RED
    }
    tiles = [f"0{tile[1]}" if red.get(tile) == index else tile for index, tile in enumerate(hand.all_tiles)]
    melds = []
    for meld in hand.melds:
        melds.append(RiichiHandMeld(meld.kind, tuple(tiles[: len(meld.tiles)]), meld.open))
        del tiles[: len(meld.tiles)]
    return RiichiHand(tuple(tiles[:-1]), tiles[-1], tuple(melds))


def _regular(chance: Random) -> RiichiHand | None:
    suits = chance.choice(["m", "p", "s", "mp", "ps", "mps", "mpsz", "mz", "sz", "z"])
    sets = [_set(suits, chance) for _ in range(4)]
    pair = [chance.choice(_kinds(suits))] * 2
    if max(Counter([tile for _, tiles in sets for tile in tiles] + pair).values()) > 4:
        return None
    melds, standing = [], pair
    for kind, tiles in sets:
        if kind == "kan" or chance.random() < CHANCE_OF_MELD:
            melds.append(RiichiHandMeld(kind, tuple(tiles), open=kind != "kan" or chance.random() < 0.5))
        else:
            standing = standing + tiles
    chance.shuffle(standing)
    return RiichiHand(tuple(standing[1:]), standing[0], tuple(melds))


def _set(suits: str, chance: Random) -> tuple[str, list[str]]:
    kind = chance.choices(["chii", "pon", "kan"], [6, 4, 1])[0]
    tile = chance.choice(_kinds(suits))
    if kind == "chii" and tile[1] != "z":
        low = KINDS.index(f"{min(int(tile[0]), 7)}{tile[1]}")
        return "chii", list(KINDS[low : low + 3])
    return ("kan", [tile] * 4) if kind == "kan" else ("pon", [tile] * 3)


def _seven_pairs(chance: Random) -> RiichiHand:
    tiles = [tile for kind in chance.sample(KINDS, 7) for tile in (kind, kind)]
    chance.shuffle(tiles)
    return RiichiHand(tuple(tiles[1:]), tiles[0])


def _kinds(suits: str) -> list[str]:
    return [kind for kind in KINDS if kind[1] in suits]


def situation(hand: RiichiHand, chance: Random) -> RiichiSituation | None:
    """Return a situation for a hand; None if it uses too many of the indicators."""
    indicators = tuple(chance.choice(KINDS) for _ in range(chance.randint(1, 3)))
    seen = Counter((*hand.all_tiles, *indicators))
    if max(seen.values()) > 4:
        return None
    drawn, riichi = chance.random() < 0.5, 0 if hand.open else chance.choice([0, 0, 1, 2])
    kan = any(meld.kind == "kan" for meld in hand.melds)
    rinshan = drawn and kan and chance.random() < 0.3
    last = not rinshan and chance.random() < RARE
    return RiichiSituation(
        seat_wind=chance.choice(SEATS),
        round_wind=chance.choice(SEATS[:2]),
        self_drawn=drawn,
        riichi=riichi,
        ippatsu=bool(riichi) and not rinshan and chance.random() < 0.3,
        rinshan=rinshan,
        chankan=not drawn and not last and seen[hand.winning_tile] == 1 and chance.random() < RARE,
        haitei=last and drawn,
        houtei=last and not drawn,
        dora_indicators=indicators,
    )
