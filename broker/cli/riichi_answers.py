"""What `homologue riichi` is asked, in JSON or typed by hand, and what it answers, as JSON and as sentences."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from broker.export.points_table import pad_left, translator
from broker.i18n import N_, Message
from broker.protocol import SEATS
from broker.rules import RuleError
from broker.rules.riichi import Language, PaidWin, RiichiPayments, riichi_name
from broker.rules.riichi.fu import Fu
from broker.rules.riichi.hand import RiichiHand, RiichiHandMeld, RiichiSituation
from broker.rules.riichi.value import RiichiHandValue

SEVERAL: Final = re.compile(r"([0-9]+)([a-z])")

Number = Annotated[int, Meta(ge=-999, le=999)]
"""Wide enough that what is under zero gets its own code."""


class RiichiMeldQuestion(Struct, forbid_unknown_fields=True):
    """A set laid down."""

    kind: str
    tiles: tuple[str, ...]
    open: bool = True


class _Asked(Struct, forbid_unknown_fields=True):
    """What both kinds of questions may say."""

    self_drawn: bool = False
    honba: Number = 0
    riichi_sticks: Number = 0
    discarder: str | None = None
    rules: str | None = None


class RiichiHandQuestion(_Asked, kw_only=True, forbid_unknown_fields=True):
    """A hand and how it won; `concealed` is without the winning tile. A wind that is left out would be a guess."""

    concealed: tuple[str, ...]
    winning_tile: str
    round_wind: str
    seat_wind: str
    melds: tuple[RiichiMeldQuestion, ...] = ()
    riichi: Annotated[int, Meta(ge=0, le=2)] = 0
    open_riichi: bool = False
    ippatsu: bool = False
    rinshan: bool = False
    chankan: bool = False
    haitei: bool = False
    houtei: bool = False
    first_turn: bool = False
    after_eight_counters: bool = False
    dora_indicators: tuple[str, ...] = ()
    ura_indicators: tuple[str, ...] = ()


class RiichiPointsQuestion(_Asked, kw_only=True, forbid_unknown_fields=True):
    """A value that somebody has counted already."""

    dealer: bool
    han: Number = 0
    fu: Number = 0
    yakuman: Number = 0


def read_riichi_question(asked: dict[str, Any]) -> RiichiHandQuestion | RiichiPointsQuestion:
    """Read a question: about tiles, or about han and fu. Raises RuleError `malformed`."""
    try:
        if "concealed" in asked or "winning_tile" in asked:
            return msgspec.convert(asked, RiichiHandQuestion)
        return msgspec.convert(asked, RiichiPointsQuestion)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", str(error)) from None


def question_hand(asked: RiichiHandQuestion) -> RiichiHand:
    """Return the tiles. Raises RuleError with the codes of `Hand` and `Meld`."""
    melds = tuple(RiichiHandMeld(meld.kind, meld.tiles, meld.open) for meld in asked.melds)
    return RiichiHand(asked.concealed, asked.winning_tile, melds)


def question_situation(asked: RiichiHandQuestion) -> RiichiSituation:
    """Return how the hand won. Raises RuleError with the codes of `Situation`, and of a discarder that cannot be."""
    _check_discarder(asked, asked.seat_wind)
    return RiichiSituation(**{one.name: getattr(asked, one.name) for one in fields(RiichiSituation)})


def question_win(asked: RiichiPointsQuestion) -> PaidWin:
    """Return the win. Raises RuleError with the codes of `Win`, and of a discarder that cannot be."""
    _check_discarder(asked, "east" if asked.dealer else None)
    return PaidWin(
        asked.han, asked.fu, asked.dealer, asked.self_drawn, asked.yakuman, asked.honba, deposits=asked.riichi_sticks
    )


def _check_discarder(asked: RiichiHandQuestion | RiichiPointsQuestion, winner: str | None) -> None:
    """Raise RuleError `unknown_wind`, `discarder_not_asked` or `discarder_wins`; winds of the two seats."""
    if asked.discarder is None:
        return
    if asked.discarder not in SEATS:
        raise RuleError("unknown_wind", f"{asked.discarder[:20]!r} is no seat wind; there are: {', '.join(SEATS)}")
    if asked.self_drawn:
        raise RuleError("discarder_not_asked", "a self-drawn win has no discarder")
    if asked.discarder == winner:
        raise RuleError("discarder_wins", f"{winner} wins on the own discard")


def parse_tiles(text: str) -> tuple[str, ...]:
    """Return the tiles of `234m0p55z`. Raises RuleError `unknown_tile`."""
    if SEVERAL.sub("", text).strip():
        raise RuleError("unknown_tile", f"{text[:40]!r}: digits and then m, p, s or z, as in 234m055p77z")
    return tuple(f"{rank}{suit}" for ranks, suit in SEVERAL.findall(text) for rank in ranks)


WAYS: Final = ("discarder_pays", "each_other_pays", "dealer_pays", "each_non_dealer_pays")

SENTENCES: Final[Mapping[str, Message]] = {
    "discarder_pays": N_("the discarder pays {points}"),
    "each_other_pays": N_("every other player pays {points}"),
    "dealer_pays": N_("the dealer pays {points}"),
    "each_non_dealer_pays": N_("each of the other players pays {points}"),
    "winner_gain": N_("the winner gains {points}"),
}
"""Terms have their Japanese names; sentences are English unless French or Chinese is asked for."""


def _payments_answer(paid: RiichiPayments) -> dict[str, int]:
    """Return who pays what; ways in which nobody pays are left out."""
    return {way: getattr(paid, way) for way in WAYS if getattr(paid, way) is not None} | {
        "winner_gain": paid.winner_gain
    }


def points_answer(han: int, fu: int, yakuman: int, paid: RiichiPayments) -> dict[str, Any]:
    """Return the answer to a question about han and fu."""
    return {"yaku": [], "han": han, "fu": fu, "yakuman": yakuman} | _paid(paid)


def hand_answer(value: RiichiHandValue, paid: RiichiPayments, language: Language) -> dict[str, Any]:
    """Return the answer to a question about tiles."""
    yaku = [{"id": one.id, "name": riichi_name("yaku", one.id, language), "han": one.han} for one in value.yaku]
    fu = value.fu.rounded if value.fu else 0
    told = {"yaku": yaku, "han": value.han, "fu": fu, "yakuman": value.yakuman}
    return told | _paid(paid) | ({"fu_items": _items(value.fu, language)} if value.fu else {})


def _paid(paid: RiichiPayments) -> dict[str, Any]:
    return {"payments": _payments_answer(paid), "winner_gain": paid.winner_gain, "limit": paid.limit}


def _items(fu: Fu, language: Language) -> list[dict[str, Any]]:
    return [
        {"id": item.id, "name": riichi_name("fu", item.id, language), "fu": item.fu}
        | ({"tiles": item.tiles} if item.tiles else {})
        for item in fu.items
    ]


def hand_sentences(value: RiichiHandValue, paid: RiichiPayments, language: Language) -> Iterator[str]:
    """Tell a hand's value for people: yaku, fu item by item, payments."""
    _ = translator(language)
    for one in value.yaku:
        worth = _("{count} yakuman", count=one.yakuman) if one.yakuman else _("{han} han", han=one.han)
        yield f"{pad_left(worth, 10)}  {riichi_name('yaku', one.id, language)}"
    if value.fu and not value.yakuman:
        yield ""
        for item in value.fu.items:
            worth = pad_left(_("{fu} fu", fu=item.fu), 10)
            yield f"{worth}  {riichi_name('fu', item.id, language)}{_beside(item.tiles)}"
        if value.fu.sum != value.fu.rounded:
            yield 12 * " " + _("{fu} fu, rounded up to {rounded}", fu=value.fu.sum, rounded=value.fu.rounded)
    yield ""
    fu = value.fu.rounded if value.fu else 0
    yield from payments_sentences("" if value.yakuman else worth_sentence(value.han, fu, 0, language), paid, language)


def worth_sentence(han: int, fu: int, yakuman: int, language: Language) -> str:
    """Return what a hand is worth: its yakuman, or han and fu."""
    _ = translator(language)
    if yakuman:
        return _("{count} yakuman", count=yakuman)
    return " ".join(text for text, worth in ((_("{han} han", han=han), han), (_("{fu} fu", fu=fu), fu)) if worth)


def payments_sentences(worth: str, paid: RiichiPayments, language: Language) -> Iterator[str]:
    """Tell the limit and who pays what."""
    _ = translator(language)
    limit = riichi_name("limit", paid.limit, language) if paid.limit else ""
    told = _payments_answer(paid)
    ways = ", ".join(_(SENTENCES[way], points=told[way]) for way in told)
    head = ", ".join(part for part in (worth, limit) if part)
    yield f"{head}: {ways}"


def _beside(tiles: tuple[str, ...]) -> str:
    return f"  {' '.join(tiles)}" if tiles else ""
