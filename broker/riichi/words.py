"""What the points table says, in the languages of the names; Japanese terms stand in English sentences."""

from collections.abc import Mapping
from typing import Final

from broker.rules.riichi.names import Language

ENGLISH: Final[Mapping[str, str]] = {
    "other": "Non-dealer",
    "dealer": "Dealer",
    "key_other": "bold: the discarder pays · below, self-drawn: each non-dealer / the dealer pays",
    "key_dealer": "bold: the discarder pays · below, self-drawn: each of the three pays",
    "counter": "Each counter adds {counter}: from the discarder, or {each} from each of three. A deposit is {deposit}.",
    "rules": "Rules: {title} ({id}, version {version})",
}

FRENCH: Final[Mapping[str, str]] = {
    "other": "Joueur ordinaire",
    "dealer": "Donneur",
    "key_other": "en gras : paie qui a écarté la tuile · dessous, par tsumo : chaque joueur ordinaire / le donneur",
    "key_dealer": "en gras : paie qui a écarté la tuile · dessous, par tsumo : chacun des trois",
    "counter": "Chaque compteur ajoute {counter} points, {each} par joueur en cas de tsumo. Un dépôt vaut {deposit}.",
    "rules": "Règles : {title} ({id}, version {version})",
}


def words(language: Language) -> Mapping[str, str]:
    """Give the words of the table."""
    return FRENCH if language == "fr" else ENGLISH
