"""Charts, intervals and QR codes as SVG, coloured by the page's own style sheet (light, dark and print).

pygal's own style and script are removed, because the page's policy allows nothing inline. Every figure in a chart is
also in a table beside it.
"""

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Any, Final
from xml.etree.ElementTree import Element, tostring

import pygal
from markupsafe import Markup
from pygal.style import Style

from broker.protocol import SEATS, Imp, Seat
from broker.qr import qr_code
from broker.scorer import DealSheet, PlayerSheet, StandingsHistory
from broker.scoring import Interval

# pygal registers an outdated kind of import finder, for maps that are not used here. Every later import that fails
# would warn about it.
sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, pygal.PluginImportFixer)]

FONT: Final = 16
"""Font size by which pygal leaves room for text: the size in `charts.css` on a phone, where a chart is 340 px wide."""

SETTINGS: Final = {
    "width": 480,
    "height": 360,
    "style": Style(label_font_size=FONT, major_label_font_size=FONT, legend_font_size=FONT),
    "js": [],
    "css": [],
    "explicit_size": False,
    "disable_xml_declaration": True,
    "no_prefix": True,
    "truncate_legend": -1,
    "legend_at_bottom": True,
    "legend_at_bottom_columns": len(SEATS),
    "show_x_guides": False,
    "margin": 8,
}

MOST_RULES: Final = 8
"""Maximum number of horizontal rules across a chart."""

MOST_NUMBERS: Final = 10
"""Maximum number of deals or tables numbered below a chart."""

MOST_PLAYS: Final = 40
"""Maximum number of bars that can still be told apart; beyond that the traveller is easier to read than a chart."""

REMOVED_TAGS: Final = {"style", "script", "desc"}
NAMESPACE: Final = "{http://www.w3.org/2000/svg}"

LEGEND_LINE: Final = Markup(
    '<li><svg class="chart" viewBox="0 0 32 8" aria-hidden="true"><g class="series serie-{at}">'
    '<path class="line color-{at}" d="M0 4H32"/></g></svg><bdi>{name}</bdi></li>'
)


def course_chart(course: StandingsHistory, about: str) -> Markup:
    """Draw the running IMP totals of some players, deal by deal, with a legend that wraps when names are long."""
    few = len(course.deals) < MOST_PLAYS
    chart = pygal.Line(**SETTINGS, **_numbered(course.deals), show_dots=few, show_legend=False)
    for line in course.lines:
        chart.add(None, [float(Fraction(imp)) for imp in line.imps])
    drawn = _drawn(chart, about, [float(Fraction(imp)) for line in course.lines for imp in line.imps])
    names = Markup().join(LEGEND_LINE.format(at=at, name=line.name) for at, line in enumerate(course.lines))
    return drawn + Markup('<ul class="legend">{}</ul>').format(names)


def deal_chart(sheet: DealSheet, about: str, seats: Mapping[str, str]) -> Markup | None:
    """Draw the points of each seat in one deal, in the order in which the tables played it."""
    plays = sorted((play for group in sheet.groups for play in group.plays), key=lambda play: (play.round, play.table))
    points = [line.points or 0 for play in plays for line in play.seats.values()]
    if not 1 < len(plays) <= MOST_PLAYS or not any(points):
        return None
    chart = pygal.Bar(**SETTINGS, **_numbered([play.table for play in plays]))
    for seat in SEATS:
        chart.add(seats[seat], [play.seats[seat].points for play in plays])
    return _drawn(chart, about, points)


def player_chart(sheet: PlayerSheet, about: str, seats: Mapping[str, str]) -> Markup | None:
    """Draw a player's points against the IMPs they gave, by seat."""
    drawn = _player_chart(tuple((play.seat, play.line.points, play.line.imp) for play in sheet.plays))
    return drawn and drawn.format(about=about, **seats)


@lru_cache(maxsize=8)
def _player_chart(plotted: tuple[tuple[Seat, int | None, Imp | None], ...]) -> Markup | None:
    """Draw the chart with format fields in place of words, so that the cached result serves every language."""
    if sum(points is not None and imp is not None for _, points, imp in plotted) < 2:  # noqa: PLR2004 - one dot shows nothing
        return None
    chart = pygal.XY(**SETTINGS, stroke=False, dots_size=6)
    for seat in SEATS:
        chart.add(f"{{{seat}}}", _dots((points, imp) for at, points, imp in plotted if at == seat))
    heights = [imp for _, imp in _dots((points, imp) for _, points, imp in plotted)]
    return _drawn(chart, "{about}", heights, "chart dotted")


def _dots(pairs: Iterable[tuple[int | None, int | str | None]]) -> Sequence[tuple[float, float]]:
    return [(float(x), float(Fraction(y))) for x, y in pairs if x is not None and y is not None]


def _numbered(numbers: Sequence[int]) -> dict[str, Any]:
    """Return the labels for the x axis, thinned out where there are many."""
    labels: dict[str, Any] = {"x_labels": [*map(str, numbers)]}
    if len(numbers) > MOST_NUMBERS:
        labels |= {"x_labels_major_every": -(-len(numbers) // MOST_NUMBERS), "show_minor_x_labels": False}
    return labels


def _drawn(chart: pygal.Graph, about: str, heights: Sequence[float], kind: str = "chart") -> Markup:
    """Return the drawing without what the page's policy forbids, with `about` as its name for screen readers.

    Points and IMPs are whole numbers, and so are the labels of the y axis, which spans all `heights` and 0.
    """
    low, high = math.floor(min(*heights, 0, 0)), math.ceil(max(*heights, 0, 0))
    step = next(step for step in round_steps() if (high - low) <= step * MOST_RULES)
    chart.y_labels = list(range(step * (low // step), high + step, step))
    chart.y_labels_major = [0]
    root: Element = chart.render_tree()
    for parent in list(root.iter()):
        for child in list(parent):
            if (
                not isinstance(child.tag, str)
                or child.tag.removeprefix(NAMESPACE) in REMOVED_TAGS
                or _is_overlay(child)
            ):
                parent.remove(child)
        parent.attrib.pop("style", None)
    root.attrib.pop("id", None)
    root.set("class", kind)
    root.set("role", "img")
    root.set("aria-label", about)
    return Markup(tostring(root, encoding="unicode"))  # noqa: S704 - ElementTree has escaped all text


def round_steps() -> Iterator[int]:
    """Yield round step widths: 1, 2, 5, 10, 20, 50 and so on."""
    return (step * 10**power for power in count() for step in (1, 2, 5))


def _is_overlay(element: Element) -> bool:
    """Return whether a group only serves pygal's script. The dots are in another group."""
    return element.get("class", "").endswith(("tooltip-overlay", "text-overlay"))


BAR_WIDE: Final = 200
BAR_HIGH: Final = 16


def interval_bar(interval: Interval, span: tuple[float, float]) -> Markup:
    """Draw an interval with its estimate on an axis that covers `span`; the same numbers are in text beside it.

    A line marks 0 where it is within the span.
    """
    first, last = span

    def across(value: float | None) -> float:
        return round(BAR_WIDE * (min(max(value or 0, first), last) - first) / (last - first), 2)

    low, estimate, high = across(interval.low), across(interval.estimate), across(interval.high)
    return Markup(
        '<svg class="interval" viewBox="0 0 {wide} {high}" preserveAspectRatio="none" aria-hidden="true">'
        '<path class="axis" d="M0 {middle}H{wide}M{zero} 0V{high}"/>'
        '<rect x="{low}" y="3" width="{size}" height="{thick}" rx="2"/>'
        '<path class="estimate" d="M{at} 0V{high}"/></svg>'
    ).format(
        wide=BAR_WIDE,
        high=BAR_HIGH,
        middle=BAR_HIGH // 2,
        thick=BAR_HIGH - 6,
        zero=across(0),
        low=low,
        size=round(max(high - low, 1), 2),
        at=estimate,
    )


def qr(text: str) -> Markup:
    """Return a text as a QR code."""
    size, runs = qr_code(text)
    path = "".join(f"M{x} {y}h{length}v1h{-length}z" for x, y, length in runs)
    return Markup(
        '<svg class="qr" viewBox="0 0 {size} {size}" role="img" aria-label="QR: {text}">'
        '<rect width="{size}" height="{size}"/><path d="{runs}"/></svg>'
    ).format(size=size, text=text, runs=path)
