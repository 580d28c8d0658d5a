"""What the points table says, in the languages of the names; Japanese terms stand in English sentences."""

from collections.abc import Mapping
from typing import Final

from broker.rules.riichi.names import Language

ENGLISH: Final[Mapping[str, str]] = {
    "other": "Non-dealer",
    "dealer": "Dealer",
    "han": "{} han",
    "fu": "fu",
    "key_other": "bold: the discarder pays · below, self-drawn: each non-dealer / the dealer pays",
    "key_dealer": "bold: the discarder pays · below, self-drawn: each of the three pays",
    "counter": "Each counter adds {counter}: from the discarder, or {each} from each of three. A deposit is {deposit}.",
    "rules": "Rules: {title} ({id}, version {version})",
}

FRENCH: Final[Mapping[str, str]] = {
    "other": "Joueur ordinaire",
    "dealer": "Donneur",
    "han": "{} han",
    "fu": "fu",
    "key_other": "en gras : paie qui a écarté la tuile · dessous, par tsumo : chaque joueur ordinaire / le donneur",
    "key_dealer": "en gras : paie qui a écarté la tuile · dessous, par tsumo : chacun des trois",
    "counter": "Chaque compteur ajoute {counter} points, {each} par joueur en cas de tsumo. Un dépôt vaut {deposit}.",
    "rules": "Règles : {title} ({id}, version {version})",
}

CHINESE: Final[Mapping[str, str]] = {
    "other": "闲家",
    "dealer": "庄家",
    "han": "{}番",
    "fu": "符",
    "key_other": "粗体：放铳者支付 · 下行：自摸时每位闲家 / 庄家支付",
    "key_dealer": "粗体：放铳者支付 · 下行：自摸时三家各付",
    "counter": "每个本场棒加{counter}点：由放铳者付，自摸时三家各付{each}点。立直棒为{deposit}点。",
    "rules": "规则：{title}（{id}，第{version}版）",
}

_OF: Final[Mapping[Language, Mapping[str, str]]] = {"fr": FRENCH, "zh": CHINESE}


def words(language: Language) -> Mapping[str, str]:
    """Give the words of the table."""
    return _OF.get(language, ENGLISH)
