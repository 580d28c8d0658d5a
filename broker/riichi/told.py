"""The value of a hand and what it pays, as JSON and as sentences."""

from collections.abc import Iterator
from typing import Any, Final

from broker.riichi.columns import right
from broker.rules.riichi.fu import Fu
from broker.rules.riichi.names import Language, name
from broker.rules.riichi.points import Payments
from broker.rules.riichi.value import Value

WAYS: Final = ("discarder_pays", "each_other_pays", "dealer_pays", "each_non_dealer_pays")

SENTENCES: Final = {
    "discarder_pays": {"en": "the discarder pays {}", "fr": "le joueur qui a écarté paie {}", "zh": "放铳者付{}"},
    "each_other_pays": {"en": "each other pays {}", "fr": "chacun paie {}", "zh": "三家各付{}"},
    "dealer_pays": {"en": "the dealer pays {}", "fr": "le donneur paie {}", "zh": "庄家付{}"},
    "each_non_dealer_pays": {
        "en": "each of the others pays {}",
        "fr": "chacun des autres paie {}",
        "zh": "另两家各付{}",
    },
    "winner_gain": {"en": "the winner gains {}", "fr": "le gagnant reçoit {}", "zh": "和牌者得{}"},
    "rounded": {"en": "{} fu, rounded up to {}", "fr": "{} fu, arrondis à {}", "zh": "{}符，进位为{}符"},
    "han": {"en": "{} han", "zh": "{}番"},
    "fu": {"en": "{} fu", "zh": "{}符"},
    "yakuman": {"en": "{} yakuman", "zh": "{}倍役满"},
}
"""Terms have their Japanese names; sentences are English unless French or Chinese is asked for."""


def payments_told(paid: Payments) -> dict[str, int]:
    """Give who pays what; ways in which nobody pays are left out."""
    return {way: getattr(paid, way) for way in WAYS if getattr(paid, way) is not None} | {
        "winner_gain": paid.winner_gain
    }


def points_answer(han: int, fu: int, yakuman: int, paid: Payments) -> dict[str, Any]:
    """Give the answer to a question about han and fu."""
    return {"yaku": [], "han": han, "fu": fu, "yakuman": yakuman} | _paid(paid)


def hand_answer(value: Value, paid: Payments, language: Language) -> dict[str, Any]:
    """Give the answer to a question about tiles."""
    yaku = [{"id": one.id, "name": name("yaku", one.id, language), "han": one.han} for one in value.yaku]
    fu = value.fu.rounded if value.fu else 0
    told = {"yaku": yaku, "han": value.han, "fu": fu, "yakuman": value.yakuman}
    return told | _paid(paid) | ({"fu_items": _items(value.fu, language)} if value.fu else {})


def _paid(paid: Payments) -> dict[str, Any]:
    return {"payments": payments_told(paid), "winner_gain": paid.winner_gain, "limit": paid.limit}


def _items(fu: Fu, language: Language) -> list[dict[str, Any]]:
    return [
        {"id": item.id, "name": name("fu", item.id, language), "fu": item.fu}
        | ({"tiles": item.tiles} if item.tiles else {})
        for item in fu.items
    ]


def hand_sentences(value: Value, paid: Payments, language: Language) -> Iterator[str]:
    """Tell a hand's value for people: yaku, fu item by item, payments."""
    for one in value.yaku:
        worth = _sentence("yakuman", language, one.yakuman) if one.yakuman else _sentence("han", language, one.han)
        yield f"{right(worth, 10)}  {name('yaku', one.id, language)}"
    if value.fu and not value.yakuman:
        yield ""
        for item in value.fu.items:
            worth = right(_sentence("fu", language, item.fu), 10)
            yield f"{worth}  {name('fu', item.id, language)}{_beside(item.tiles)}"
        if value.fu.sum != value.fu.rounded:
            yield f"{'':12}{_sentence('rounded', language, value.fu.sum, value.fu.rounded)}"
    yield ""
    fu = value.fu.rounded if value.fu else 0
    yield from payments_sentences("" if value.yakuman else worth_told(value.han, fu, 0, language), paid, language)


def worth_told(han: int, fu: int, yakuman: int, language: Language) -> str:
    """Tell what a hand is worth: its yakuman, or han and fu."""
    if yakuman:
        return _sentence("yakuman", language, yakuman)
    return " ".join(_sentence(unit, language, one) for unit, one in (("han", han), ("fu", fu)) if one)


def payments_sentences(worth: str, paid: Payments, language: Language) -> Iterator[str]:
    """Tell the limit and who pays what."""
    limit = name("limit", paid.limit, language) if paid.limit else ""
    told = payments_told(paid)
    ways = ", ".join(_sentence(way, language, told[way]) for way in told)
    head = ", ".join(part for part in (worth, limit) if part)
    yield f"{head}: {ways}"


def _beside(tiles: tuple[str, ...]) -> str:
    return f"  {' '.join(tiles)}" if tiles else ""


def _sentence(which: str, language: Language, *numbers: int) -> str:
    said = SENTENCES[which]
    return said.get(language, said["en"]).format(*numbers)
