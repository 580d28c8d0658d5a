"""A view as HTML: one renderer for the still page and for the live one, so that the two cannot disagree."""

from datetime import UTC, datetime
from fractions import Fraction
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from broker.contract.words import SEATS
from broker.desk.catalogue import LANGUAGES, Catalogue, Language, catalogues
from broker.desk.signs import SIGNS, shown
from broker.scorer.view import View

SHOWN_PLAYS: Final = 60
"""The page is read, not archived: a phone need not take older plays four times a second. `view.json` has them all."""

SHOWN_GAPS: Final = 5
SHOWN_ALERTS: Final = 5


def signed(number: int | str) -> str:
    """Write a sum with its sign, a fraction to two places: U+2212 is as wide as the plus, so columns stand still."""
    if isinstance(number, str):
        return f"{float(Fraction(number)):+.2f}".replace("-", "\N{MINUS SIGN}")
    return f"{number:+d}".replace("-", "\N{MINUS SIGN}") if number else "0"


def time_tag(at: int, *, seconds: bool = False) -> Markup:
    """Write a time (ms since 1970, UTC) in the server's zone; `desk.js` puts it into the reader's."""
    moment = datetime.fromtimestamp(at / 1000, UTC)
    text = moment.astimezone().strftime("%H:%M:%S" if seconds else "%H:%M")
    return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(timespec="milliseconds"), text)


class Pages:
    """Renders views. The room is kept until the view changes: any number of readers cost one rendering a language."""

    def __init__(self) -> None:
        # A missing name is a fault of ours and must not be shown as nothing.
        self._environment = Environment(
            loader=PackageLoader("broker.desk"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(signed=signed, time_tag=time_tag)
        self._environment.globals.update(
            seats=SEATS,
            signs=SIGNS,
            shown=shown,
            shown_plays=SHOWN_PLAYS,
            shown_gaps=SHOWN_GAPS,
            shown_alerts=SHOWN_ALERTS,
        )
        self._rooms: dict[Language, tuple[View, Markup]] = {}

    def whole(self, view: View, words: Catalogue, now: int) -> str:
        """Render the page. `now` (ms since 1970) is told as the time of what is shown."""
        names = [(language, catalogues()[language]) for language in LANGUAGES]
        return self._environment.get_template("page.html").render(
            room=self.room(view, words), view=view, words=words, say=words.say, names=names, now=now
        )

    def room(self, view: View, words: Catalogue) -> Markup:
        """Render the part that changes: everything but the head and the banners of the connection."""
        kept = self._rooms.get(words.language)
        if kept is None or kept[0] is not view:
            calling = [table.table for table in view.tables if table.calling]
            html = self._environment.get_template("room.html").render(view=view, say=words.say, calling=calling)
            kept = self._rooms[words.language] = (view, Markup(html))  # noqa: S704 - the template's own escaped output
        return kept[1]
