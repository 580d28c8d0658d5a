"""The wins of a record: what was held and declared, and what was counted and paid for it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from broker.contract.words import SEATS
from broker.riichi.mjlog.attributes import first, number, numbers, player, some
from broker.riichi.mjlog.game import ANY, Kind, kind_of
from broker.riichi.mjlog.melds import meld_of, tile_of
from broker.riichi.mjlog.tags import Tag
from broker.rules.errors import RuleError
from broker.rules.riichi.hand import Hand, Situation
from broker.rules.riichi.names import ids_by_number

PLAYERS: Final = 4


@dataclass(frozen=True, slots=True)
class Win:
    """One win. `yaku`: han by id as they were counted, for a yakuman 13; `points` without counters and deposits.

    `paid`: what each player won or lost, players by their number; None where somebody was responsible (pao).
    """

    number: int
    hand: Hand
    said: Situation
    honba: int
    deposits: int
    winner: int
    discarder: int | None
    dealer: int
    yaku: Mapping[str, int]
    fu: int
    points: int
    paid: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Game:
    """What a win does not say itself: kind of game, round (-1 before the first), who deals, who declared riichi."""

    kind: Kind = ANY
    round_number: int = -1
    dealer: int = 0
    riichi: frozenset[int] = frozenset()


def wins_of(tags: Sequence[Tag]) -> Iterator[tuple[Game, Win | RuleError]]:
    """Give each win of a record, or why it cannot be read. Raises RuleError `bad_record` for a game of three."""
    game, count = Game(), 0
    for tag in tags:
        if tag.name == "AGARI":
            count += 1
            try:
                yield game, _win(tag, game, count)
            except RuleError as problem:
                yield game, problem
        else:
            game = _followed(game, tag)


def _followed(game: Game, tag: Tag) -> Game:
    if tag.name == "GO":
        return replace(game, kind=kind_of(tag))
    if tag.name == "INIT":
        return replace(game, round_number=first(tag, "seed"), dealer=player(tag, "oya"), riichi=frozenset())
    if tag.name == "REACH":
        return replace(game, riichi=game.riichi | {player(tag, "who")})
    return game


def _win(tag: Tag, game: Game, at: int) -> Win:
    winner, source = player(tag, "who"), player(tag, "fromWho")
    own = numbers(tag, "hai")
    won = number(tag, "machi")
    if len({*own}) < len(own):
        raise RuleError("bad_record", f"win {at}: one tile is in the hand twice")
    if won not in own:
        raise RuleError("bad_record", f"win {at}: the winning tile is not in the hand")
    own.remove(won)
    melds = tuple(meld_of(bits, red=game.kind.red) for bits in numbers(tag, "m"))
    hand = Hand(tuple(tile_of(one, red=game.kind.red) for one in own), tile_of(won, red=game.kind.red), melds)
    honba, deposits = some(tag, "ba", 2)
    fu, points = first(tag, "ten"), first(tag, "ten", 1)
    yaku = yaku_of(tag)
    return Win(
        number=at,
        hand=hand,
        said=_situation(tag, game, winner, yaku, self_drawn=winner == source),
        honba=honba,
        deposits=deposits,
        winner=winner,
        discarder=None if winner == source else source,
        dealer=game.dealer,
        yaku=yaku,
        fu=fu,
        points=points,
        paid=None if "paoWho" in tag.attributes else tuple(100 * one for one in numbers(tag, "sc")[1::2]),
    )


def _situation(tag: Tag, game: Game, winner: int, yaku: Mapping[str, int], *, self_drawn: bool) -> Situation:
    """Give how it was won. The last tile, kans and first turns are taken from the yaku: only a replay would know."""
    if game.round_number < 0:
        raise RuleError("bad_record", "a win before the first hand")
    return Situation(
        seat_wind=SEATS[(winner - game.dealer) % PLAYERS],
        round_wind=SEATS[game.round_number // PLAYERS % PLAYERS],
        self_drawn=self_drawn,
        riichi=(2 if "double_riichi" in yaku else 1) if winner in game.riichi else 0,
        ippatsu="ippatsu" in yaku,
        rinshan="rinshan_kaihou" in yaku,
        chankan="chankan" in yaku,
        haitei="haitei" in yaku,
        houtei="houtei" in yaku,
        first_turn=bool({"tenhou", "chiihou", "renhou"} & set(yaku)),
        dora_indicators=tuple(tile_of(one, red=False) for one in numbers(tag, "doraHai")),
        ura_indicators=tuple(tile_of(one, red=False) for one in numbers(tag, "doraHaiUra")),
    )


def yaku_of(tag: Tag) -> dict[str, int]:
    """Give the yaku that were counted by their ids, with their han. Raises RuleError `bad_record`."""
    listed, yakuman = numbers(tag, "yaku"), numbers(tag, "yakuman")
    counted = list(zip(listed[::2], listed[1::2], strict=False)) + [(one, 13) for one in yakuman]
    ids = ids_by_number("tenhou")
    unknown = [one for one, _ in counted if one not in ids]
    if unknown:
        raise RuleError("bad_record", f"no yaku has the number {unknown[0]}")
    return {ids[one]: han for one, han in counted if han}  # no ura dora turned up is written as 0 han
