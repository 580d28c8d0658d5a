"""The hands and wins of an mjlog record: what was held and declared, what was paid, and the players' scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from broker.cli.mjlog.notation import (
    ANY,
    GameKind,
    MjlogTag,
    decode_meld,
    decode_tile,
    exact_numbers,
    first_number,
    game_kind,
    numbers,
    one_number,
    player_number,
)
from broker.protocol import SEATS
from broker.rules import RuleError
from broker.rules.riichi import (
    PLAYERS,
    ROUNDS,
    Abort,
    ExhaustiveDraw,
    PlayerNo,
    PlayerPoints,
    Ron,
    SessionEvent,
    SessionState,
    SessionWin,
    Tsumo,
    add_points,
    ids_by_number,
    payments,
    player_points,
)
from broker.rules.riichi.hand import RiichiHand, RiichiSituation

PLAYER_COUNT: Final = 4


@dataclass(frozen=True, slots=True)
class MjlogWin:
    """One win. `yaku`: the han counted for each id, 13 for a yakuman. `points` excludes counters and deposits.

    `paid`: what each player won or lost, in the order of their numbers; None if somebody was responsible (pao).
    """

    number: int
    hand: RiichiHand
    situation: RiichiSituation
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
class WinContext:
    """What a win's tag lacks: the kind of game, the round (-1 before the first), dealer, and who declared riichi."""

    kind: GameKind = ANY
    round_number: int = -1
    dealer: int = 0
    riichi: frozenset[int] = frozenset()


def wins_of(tags: Sequence[MjlogTag]) -> Iterator[tuple[WinContext, MjlogWin | RuleError]]:
    """Return each win of a record, or why it cannot be read. Raises RuleError `bad_record` for a game of three."""
    game, count = WinContext(), 0
    for tag in tags:
        if tag.name == "AGARI":
            count += 1
            try:
                yield game, _read_win(tag, game, count)
            except RuleError as problem:
                yield game, problem
        else:
            game = _wins_from(game, tag)


def _wins_from(game: WinContext, tag: MjlogTag) -> WinContext:
    if tag.name == "GO":
        return replace(game, kind=game_kind(tag))
    if tag.name == "INIT":
        return replace(
            game, round_number=first_number(tag, "seed"), dealer=player_number(tag, "oya"), riichi=frozenset()
        )
    if tag.name == "REACH":
        return replace(game, riichi=game.riichi | {player_number(tag, "who")})
    return game


def _read_win(tag: MjlogTag, game: WinContext, at: int) -> MjlogWin:
    winner, source = player_number(tag, "who"), player_number(tag, "fromWho")
    own = numbers(tag, "hai")
    won = one_number(tag, "machi")
    if len({*own}) < len(own):
        raise RuleError("bad_record", f"win {at}: one tile is in the hand twice")
    if won not in own:
        raise RuleError("bad_record", f"win {at}: the winning tile is not in the hand")
    own.remove(won)
    melds = tuple(decode_meld(bits, red=game.kind.red) for bits in numbers(tag, "m"))
    hand = RiichiHand(
        tuple(decode_tile(one, red=game.kind.red) for one in own), decode_tile(won, red=game.kind.red), melds
    )
    honba, deposits = exact_numbers(tag, "ba", 2)
    fu, points = first_number(tag, "ten"), first_number(tag, "ten", 1)
    yaku = yaku_of(tag)
    return MjlogWin(
        number=at,
        hand=hand,
        situation=_situation(tag, game, winner, yaku, self_drawn=winner == source),
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


def _situation(
    tag: MjlogTag, game: WinContext, winner: int, yaku: Mapping[str, int], *, self_drawn: bool
) -> RiichiSituation:
    """Return how the hand was won. Last tile, kans and first turn are inferred from the yaku, without a replay."""
    if game.round_number < 0:
        raise RuleError("bad_record", "a win before the first hand")
    return RiichiSituation(
        seat_wind=SEATS[(winner - game.dealer) % PLAYER_COUNT],
        round_wind=SEATS[game.round_number // PLAYER_COUNT % PLAYER_COUNT],
        self_drawn=self_drawn,
        riichi=(2 if "double_riichi" in yaku else 1) if winner in game.riichi else 0,
        ippatsu="ippatsu" in yaku,
        rinshan="rinshan_kaihou" in yaku,
        chankan="chankan" in yaku,
        haitei="haitei" in yaku,
        houtei="houtei" in yaku,
        first_turn=bool({"tenhou", "chiihou", "renhou"} & set(yaku)),
        dora_indicators=tuple(decode_tile(one, red=False) for one in numbers(tag, "doraHai")),
        ura_indicators=tuple(decode_tile(one, red=False) for one in numbers(tag, "doraHaiUra")),
    )


def yaku_of(tag: MjlogTag) -> dict[str, int]:
    """Return the han of the counted yaku, by id. Raises RuleError `bad_record`."""
    listed, yakuman = numbers(tag, "yaku"), numbers(tag, "yakuman")
    counted = list(zip(listed[::2], listed[1::2], strict=False)) + [(one, 13) for one in yakuman]
    ids = ids_by_number("tenhou")
    unknown = [one for one, _ in counted if one not in ids]
    if unknown:
        raise RuleError("bad_record", f"no yaku has the number {unknown[0]}")
    return {ids[one]: han for one, han in counted if han}  # a record has 0 han where no ura dora turned up


STICK: Final = 1000

ENDS: Final = ("AGARI", "RYUUKYOKU")

PAID: Final = 2
"""The step of a riichi at which its deposit is paid, since nobody has won on its discard."""

ABORTS: Final[Mapping[str, str]] = {
    "yao9": "nine_terminals",
    "kaze4": "four_winds",
    "reach4": "four_riichi",
    "kan4": "four_kans",
    "ron3": "triple_ron",
}
"""Reasons for abortive draws, as written in records."""

NAGASHI: Final = "nm"


@dataclass(frozen=True, slots=True)
class MjlogHand:
    """One hand of a record: its number, from 1, the state before it, who paid a deposit, and the tags of its end.

    If there are two winners, or two players with nagashi, each has a tag.
    """

    number: int
    before: SessionState
    riichi: tuple[PlayerNo, ...] = ()
    ends: tuple[MjlogTag, ...] = ()

    def event(self) -> SessionEvent:
        """Return what happened. Raises RuleError `bad_record`, or the codes of the event."""
        kinds = {tag.name for tag in self.ends}
        if len(kinds) != 1:
            raise RuleError("bad_record", f"hand {self.number} has {'two ends' if kinds else 'no end'}")
        return _won(self) if kinds == {"AGARI"} else _drawn(self)

    def paid(self) -> PlayerPoints:
        """Return what each player wins or loses, including their own deposits. Raises RuleError `bad_record`."""
        deposits = tuple(-STICK if player in self.riichi else 0 for player in PLAYERS)
        return add_points(player_points(deposits), *map(_paid, self.ends))

    def counters_and_deposits(self) -> tuple[int, int]:
        """Return the counters and deposits stated at the end of the hand. Raises RuleError `bad_record`."""
        counters, deposits = exact_numbers(self.ends[0], "ba", 2)
        return counters, deposits

    def final(self) -> PlayerPoints | None:
        """Return the session's final scores, or None if this hand did not end it. Raises RuleError `bad_record`."""
        listed = [tag.attributes["owari"].split(",") for tag in self.ends if "owari" in tag.attributes]
        if not listed:
            return None
        scores = MjlogTag("owari", {"scores": ",".join(listed[-1][::2])})  # every other value is points of the website
        return player_points(tuple(100 * one for one in exact_numbers(scores, "scores", len(PLAYERS))))


def mjlog_hands(tags: Sequence[MjlogTag]) -> Iterator[MjlogHand | RuleError]:
    """Return each hand of a record, or why it cannot be read."""
    hand: MjlogHand | None = None
    count = 0
    for tag in tags:
        try:
            if tag.name == "INIT":
                if hand is not None:
                    yield hand
                hand, count = None, count + 1
                hand = MjlogHand(count, _before(tag))
            elif hand is not None:
                hand = _followed(hand, tag)
        except RuleError as problem:
            yield problem
            hand = None
    if hand is not None:
        yield hand


def _before(tag: MjlogTag) -> SessionState:
    """Return the state before a hand. Raises RuleError `bad_record`, `negative_counters`, `negative_deposits`."""
    round_, counters, deposits, *_ = exact_numbers(tag, "seed", 6)
    scores = tuple(100 * one for one in exact_numbers(tag, "ten", len(PLAYERS)))
    if round_ not in range(len(ROUNDS) * len(PLAYERS)):
        raise RuleError("bad_record", f"INIT: there is no hand {round_}")
    return SessionState(
        ROUNDS[round_ // len(PLAYERS)], player_number(tag, "oya"), counters, deposits, player_points(scores)
    )


def _followed(hand: MjlogHand, tag: MjlogTag) -> MjlogHand:
    if tag.name == "REACH" and one_number(tag, "step") == PAID:
        return replace(hand, riichi=(*hand.riichi, player_number(tag, "who")))
    return replace(hand, ends=(*hand.ends, tag)) if tag.name in ENDS else hand


def _won(hand: MjlogHand) -> SessionEvent:
    wins = tuple(map(_win_event, hand.ends))
    sources = {player_number(tag, "fromWho") for tag in hand.ends}
    if len(sources) != 1:
        raise RuleError("bad_record", f"hand {hand.number} is won on the tiles of two players")
    (source,) = sources
    if source == wins[0].winner:
        if len(wins) > 1:
            raise RuleError("bad_record", f"hand {hand.number} is won twice by a drawn tile")
        return Tsumo(win=wins[0], riichi=hand.riichi)
    return Ron(loser=source, wins=wins, riichi=hand.riichi)


def _win_event(tag: MjlogTag) -> SessionWin:
    yaku = yaku_of(tag)
    responsible = player_number(tag, "paoWho") if "paoWho" in tag.attributes else None
    names = tuple(one for one in yaku if "yakuman" in tag.attributes and one in payments.SPELLINGS)
    if names:
        return SessionWin(player_number(tag, "who"), yakuman=names, responsible=responsible)
    fu, *_ = exact_numbers(tag, "ten", 3)
    return SessionWin(player_number(tag, "who"), han=sum(yaku.values()), fu=fu, responsible=responsible)


def _drawn(hand: MjlogHand) -> SessionEvent:
    kinds = {tag.attributes.get("type", "") for tag in hand.ends}
    kind = kinds.pop()
    if kinds or (len(hand.ends) > 1 and kind != NAGASHI):
        raise RuleError("bad_record", f"hand {hand.number} ends twice without a win")
    if kind in ABORTS:
        return Abort(reason=ABORTS[kind], riichi=hand.riichi)
    if kind not in ("", NAGASHI):
        raise RuleError("bad_record", f"{kind[:20]!r} is not a way in which a hand can end")
    tenpai = tuple(one for one in PLAYERS if f"hai{one}" in hand.ends[0].attributes)
    nagashi = tuple(max(PLAYERS, key=_paid(tag).__getitem__) for tag in hand.ends) if kind == NAGASHI else ()
    return ExhaustiveDraw(tenpai=tenpai, nagashi=nagashi, riichi=hand.riichi)


def _paid(tag: MjlogTag) -> PlayerPoints:
    return player_points(tuple(100 * one for one in exact_numbers(tag, "sc", 2 * len(PLAYERS))[1::2]))
