"""The points table for the screen."""

from collections.abc import Iterator
from typing import Final

from broker.riichi.columns import left, right
from broker.riichi.table import HAN, limit_rows, rows
from broker.riichi.words import words
from broker.rules.riichi.names import Language, name
from broker.rules.riichi.profile import RiichiProfile

WIDE: Final = 18
"""Characters of a column; the first is shorter."""

FIRST: Final = 8


def table_text(profile: RiichiProfile, language: Language) -> str:
    """Give the whole table as text."""
    return "\n".join(_lines(profile, language))


def _lines(profile: RiichiProfile, language: Language) -> Iterator[str]:
    said = words(language)
    for dealer in (False, True):
        yield said["dealer" if dealer else "other"].upper()
        yield f"{right(said['fu'], FIRST - 2)}  " + "".join(left(said["han"].format(han), WIDE) for han in HAN).rstrip()
        for fu, cells in rows(profile.points, dealer=dealer):
            yield f"{fu:>{FIRST - 2}}  " + "".join(f"{cell!s:<{WIDE}}" for cell in cells).rstrip()
        for limit, han, cell in limit_rows(profile.points, dealer=dealer):
            yield f"{han:>{FIRST - 2}}  {left(name('limit', limit, language), WIDE)}{cell}"
        yield ""
    yield counters_told(profile, language)
    yield said["rules"].format(title=profile.title, id=profile.id, version=profile.version)


def counters_told(profile: RiichiProfile, language: Language) -> str:
    """Say what counters and deposits are worth."""
    counter, deposit = profile.points.counter.value, profile.points.deposit.value
    return words(language)["counter"].format(counter=counter, each=counter // 3, deposit=deposit)
