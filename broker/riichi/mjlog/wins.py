"""The wins of a record: what was held and declared, and what was counted and paid for it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from broker.contract.words import SEATS
from broker.riichi.mjlog.melds import meld_of, tile_of
from broker.riichi.mjlog.tags import Tag
from broker.rules.errors import RuleError
from broker.rules.riichi.hand import Hand, Situation
from broker.rules.riichi.names import ids_by_number

WITHOUT_RED, CLOSED_TANYAO, THREE_PLAYERS = 0x2, 0x4, 0x10
"""Bits of the kind of game."""

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
    """What a win does not say itself: rules, round (-1 before the first), who deals, who has declared riichi."""

    red: bool = True
    open_tanyao: bool = True
    round_number: int = -1
    dealer: int = 0
    riichi: frozenset[int] = frozenset()


def wins_of(tags: Sequence[Tag]) -> Iterator[tuple[Game, Win | RuleError]]:
    """Give each win of a record, or why it cannot be read. Raises RuleError `bad_record` for a game of three."""
    game, number = Game(), 0
    for tag in tags:
        if tag.name == "AGARI":
            number += 1
            try:
                yield game, _win(tag, game, number)
            except RuleError as problem:
                yield game, problem
        else:
            game = _followed(game, tag)


def _followed(game: Game, tag: Tag) -> Game:
    if tag.name == "GO":
        kind = _number(tag, "type")
        if kind & THREE_PLAYERS:
            raise RuleError("bad_record", "a game of three players; only games of four are checked")
        return replace(game, red=not kind & WITHOUT_RED, open_tanyao=not kind & CLOSED_TANYAO)
    if tag.name == "INIT":
        return replace(game, round_number=_first(tag, "seed"), dealer=_player(tag, "oya"), riichi=frozenset())
    if tag.name == "REACH":
        return replace(game, riichi=game.riichi | {_player(tag, "who")})
    return game


def _win(tag: Tag, game: Game, number: int) -> Win:
    winner, source = _player(tag, "who"), _player(tag, "fromWho")
    own = _numbers(tag, "hai")
    won = _number(tag, "machi")
    if won not in own:
        raise RuleError("bad_record", f"win {number}: the winning tile is not in the hand")
    own.remove(won)
    melds = tuple(meld_of(bits, red=game.red) for bits in _numbers(tag, "m"))
    hand = Hand(tuple(tile_of(one, red=game.red) for one in own), tile_of(won, red=game.red), melds)
    honba, deposits = _pair(tag, "ba")
    fu, points = _first(tag, "ten"), _first(tag, "ten", 1)
    yaku = _yaku(tag)
    return Win(
        number=number,
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
        paid=None if "paoWho" in tag.attributes else tuple(100 * one for one in _numbers(tag, "sc")[1::2]),
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
        dora_indicators=tuple(tile_of(one, red=False) for one in _numbers(tag, "doraHai")),
        ura_indicators=tuple(tile_of(one, red=False) for one in _numbers(tag, "doraHaiUra")),
    )


def _yaku(tag: Tag) -> dict[str, int]:
    listed, yakuman = _numbers(tag, "yaku"), _numbers(tag, "yakuman")
    counted = list(zip(listed[::2], listed[1::2], strict=False)) + [(number, 13) for number in yakuman]
    ids = ids_by_number("tenhou")
    unknown = [number for number, _ in counted if number not in ids]
    if unknown:
        raise RuleError("bad_record", f"no yaku has the number {unknown[0]}")
    return {ids[number]: han for number, han in counted if han}  # no ura dora turned up is written as 0 han


def _numbers(tag: Tag, name: str) -> list[int]:
    """Read a list of numbers; none where there is no such attribute. Raises RuleError `bad_record`."""
    text = tag.attributes.get(name, "")
    parts = text.split(",") if text else []
    if any(not part.lstrip("-").isascii() or not part.lstrip("-").isdigit() or len(part) > 9 for part in parts):  # noqa: PLR2004 - more digits than any number has
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} is a list of numbers, not {text[:40]!r}")
    return [int(part) for part in parts]


def _first(tag: Tag, name: str, at: int = 0) -> int:
    """Give the first number of a list, or the one at a place."""
    numbers = _numbers(tag, name)
    if len(numbers) <= at:
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} has too few numbers")
    return numbers[at]


def _number(tag: Tag, name: str) -> int:
    numbers = _numbers(tag, name)
    if len(numbers) != 1:
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} is one number")
    return numbers[0]


def _pair(tag: Tag, name: str) -> tuple[int, int]:
    numbers = _numbers(tag, name)
    if len(numbers) != 2:  # noqa: PLR2004 - counters and deposits
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} is two numbers")
    return numbers[0], numbers[1]


def _player(tag: Tag, name: str) -> int:
    player = _number(tag, name)
    if player not in range(PLAYERS):
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} is a player from 0 to 3")
    return player
