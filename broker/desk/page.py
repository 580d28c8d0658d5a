"""A view as HTML: one renderer for the still page and for the live one, so that the two cannot disagree."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from typing import Final, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from broker.contract.words import SEATS
from broker.desk.access import Visitor
from broker.desk.cards import FIRST, SHOWN_PLACES, Cards, Wanted
from broker.desk.catalogue import LANGUAGES, Catalogue, Language, catalogues
from broker.desk.parts import Rendering, Renderings
from broker.desk.public import Public
from broker.desk.signs import LEGEND, SIGNS, STAGES, WANTS, shown
from broker.desk.unwell import changed, faulty, in_spite_of
from broker.desk.why import detail
from broker.scorer.origins import Origin
from broker.scorer.play_clock import stands_ms, up_at, whole_minutes
from broker.scorer.standings import nowhere
from broker.scorer.view import AlertView, TableView, View

SHOWN_PLAYS: Final = 60
"""The page is read, not archived: a phone need not take older plays four times a second. `view.json` has them all."""

EVERYBODY: Final = Visitor(open_room=True)
"""Who asks a desk that nobody has an account of."""

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


def day_time_tag(at: int) -> Markup:
    """Write a day and a time (ms since 1970, UTC) in the server's zone, which it names: it may be read days later."""
    moment = datetime.fromtimestamp(at / 1000, UTC).astimezone()
    return Markup("{}").format(moment.strftime("%Y-%m-%d %H:%M %Z"))


OF_DEVICES: Final = {"what": changed, "guards": in_spite_of}
"""Values of alerts that are lists of codes, and how they are said."""


@pass_context
def fault_text(context: Context, part: str, code: str) -> Markup:
    """Say in the reader's language what is wrong with a part of a table's device."""
    return faulty(context["words"], part, code)


@pass_context
def alert_text(context: Context, alert: AlertView) -> Markup:
    """Say an alert in the reader's language. Of a message that was refused the scorer's own words have the details."""
    words: Catalogue = context["words"]
    key, table = f"alert_{alert.code}", alert.table or "?"
    kind = f"kind_{alert.values.get('kind', '')}"
    named = {"kind": words.say(kind)} if kind in words.sentences else {}
    named |= {name: say(words, str(alert.values[name])) for name, say in OF_DEVICES.items() if name in alert.values}
    if key in words.sentences:
        return words.say(key, **{**alert.values, "table": table, **named})
    why = words.sentences.get(f"refused_{alert.code}", alert.code)
    about = words.say("alert_refused" if alert.table else "alert_refused_of_nobody", table=table, why=why)
    return about + detail(words, alert.text)


def alert_value(alert: AlertView) -> str:
    """Name an alert on a button."""
    return f"{alert.at} {alert.code} {alert.table or 0} {'' if alert.about is None else alert.about}"


class Alerts(NamedTuple):
    """Alerts, each newest first: those that nobody has seen, and the others."""

    fresh: tuple[AlertView, ...]
    seen: tuple[AlertView, ...]


def split(alerts: Iterable[AlertView]) -> Alerts:
    """Tell alerts that somebody has seen from those that nobody has."""
    kept = tuple(alerts)
    return Alerts(tuple(one for one in kept if not one.seen), tuple(one for one in kept if one.seen))


def waiting(tables: Iterable[TableView]) -> list[TableView]:
    """Give the tables that call, the longest waiting first; one of which that is not known waits since just now."""
    calling = [table for table in tables if table.calling]
    return sorted(calling, key=lambda table: (table.calling_since is None, table.calling_since or 0, table.table))


def fraction(number: int | str) -> str:
    """Write an exact fraction as it is, with a true minus."""
    return str(number).replace("-", "\N{MINUS SIGN}")


@cache
def environment() -> Environment:
    """Give what all pages of the desk are rendered with."""
    # A missing name is a fault of ours and must not be shown as nothing.
    made = Environment(
        loader=PackageLoader("broker.desk"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        signed=signed,
        time_tag=time_tag,
        day_time_tag=day_time_tag,
        fraction=fraction,
        alert_text=alert_text,
        fault_text=fault_text,
        alert_value=alert_value,
    )
    made.globals.update(
        seats=SEATS,
        signs=SIGNS,
        stages=STAGES,
        want_shapes=WANTS,
        legend=LEGEND,
        shown=shown,
        up_at=up_at,
        stands_ms=stands_ms,
        whole_minutes=whole_minutes,
        shown_plays=SHOWN_PLAYS,
        shown_places=SHOWN_PLACES,
        shown_gaps=SHOWN_GAPS,
        shown_alerts=SHOWN_ALERTS,
    )
    return made


OPENED_FIRST: Final = ("page.html", "room.html", "arbiter.html", "standings.html", "tables.html", "plays.html")


@cache
def compile_pages() -> None:
    """Compile what the first page is made of; the others are, when somebody opens them."""
    for name in OPENED_FIRST:
        environment().get_template(name)
    catalogues()


Audience = tuple[Language, tuple[bool, bool, bool], int]
"""Language, rights and page of cards of those who see the same."""


class Pages:
    """Renders views. A room is kept until the view changes: any number of readers cost one rendering a language."""

    def __init__(
        self,
        *,
        sheets: bool = False,
        grids: bool = False,
        teams: Iterable[str] = (),
        origin_of: Callable[[str], Origin] = nowhere,
        attends: bool = False,
    ) -> None:
        """`sheets`: there are travellers and players' sheets to point to; `grids`: the arbiters' grid and feed.

        `teams`: as the event lists them, for the addresses of their sheets. `origin_of`: a player's country and club.
        `attends`: calls and alerts have buttons.
        """
        self.origin_of = origin_of
        self._sheets, self._grids, self._attends = sheets, grids, attends
        self._numbers = {team: at for at, team in enumerate(teams, 1)}
        self._open = Public()
        self._public: tuple[View, View] | None = None
        self._rooms: tuple[View | None, dict[Audience, Rendering]] = (None, {})
        """What was rendered of the newest view."""
        self._renderings = Renderings()

    def seen_by(self, view: View, visitor: Visitor) -> View:
        """Give what a visitor may know of a view."""
        if visitor.may("see_room"):
            return view
        kept = self._public
        if kept is None or kept[0] is not view:
            kept = self._public = (view, self._open.of(view))
        return kept[1]

    def whole(
        self, view: View, words: Catalogue, now: int, visitor: Visitor = EVERYBODY, wanted: Wanted = FIRST
    ) -> str:
        """Render the page. `now` (ms since 1970) is told as the time of what is shown."""
        leaf = Cards.of(view, wanted).leaf
        here = f"page={leaf.number}&" if leaf.number > 1 else ""
        return (
            environment()
            .get_template("page.html")
            .render(
                room=self.room(view, words, visitor, wanted),
                view=view,
                words=words,
                say=words.say,
                names=[(language, catalogues()[language]) for language in LANGUAGES],
                now=now,
                stream=f"/events?show=page&{here}lang={words.language}",
                here=f"?{here}",
                visitor=visitor,
                sheets=self._sheets,
                grids=self._grids,
                log_in=visitor.open_public,
                attends=self._attends and visitor.may("give_orders"),
                to="/",
                back=f"/?{here}",
            )
        )

    def room(self, view: View, words: Catalogue, visitor: Visitor = EVERYBODY, wanted: Wanted = FIRST) -> Markup:
        """Give the part that changes: everything but the head and the banners of the connection."""
        return self.rendering(view, words, visitor, wanted).whole

    def rendering(
        self, view: View, words: Catalogue, visitor: Visitor = EVERYBODY, wanted: Wanted = FIRST
    ) -> Rendering:
        """Render the part that changes, in parts."""
        if self._rooms[0] is not view:
            self._rooms = (view, {})
        rendered, view = self._rooms[1], self.seen_by(view, visitor)
        cards = Cards.of(view, wanted)
        # What is rendered for one reader is shown to others: it may depend on rights alone, never on who it is.
        rights = visitor.may("see_room"), visitor.may("give_orders"), visitor.rules
        audience = (words.language, rights, cards.leaf.number)
        if audience not in rendered:
            values = {
                "view": view,
                "cards": cards,
                "say": words.say,
                "calling": waiting(view.tables),
                "alerts": split(view.alerts),
                "arbiter": rights[0],
                "commands": rights[1],
                "rules": rights[2],
                "attends": self._attends and rights[1],
                "numbers": self._numbers,
                "words": words,
                "sheets": self._sheets,
                "origin_of": self.origin_of,
            }
            rendered[audience] = self._renderings.render(audience, environment().get_template("room.html"), values)
        return rendered[audience]
