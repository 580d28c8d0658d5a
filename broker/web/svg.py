"""Charts, intervals and QR codes as SVG that the page's own style colours (light, dark and print).

pygal's own style and script are taken out: no page of ours has anything inline that could style or run. A chart says
nothing that does not stand in a table beside it.
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

# pygal puts a finder of an outdated kind among those of the interpreter, for maps that nobody here draws: each import
# that fails afterwards would warn of it.
sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, pygal.PluginImportFixer)]

FONT: Final = 16
"""Room for letters: of the size that `charts.css` gives them on a phone, on which a chart is 340 pixels wide."""

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
"""Rules across a chart."""

MOST_NUMBERS: Final = 10
"""Numbers of deals or tables below it."""

MOST_PLAYS: Final = 40
"""Bars side by side that can still be told apart; of more tables the traveller says more than a chart."""

REMOVED_TAGS: Final = {"style", "script", "desc"}
NAMESPACE: Final = "{http://www.w3.org/2000/svg}"

LEGEND_LINE: Final = Markup(
    '<li><svg class="chart" viewBox="0 0 32 8" aria-hidden="true"><g class="series serie-{at}">'
    '<path class="line color-{at}" d="M0 4H32"/></g></svg><bdi>{name}</bdi></li>'
)


def course_chart(course: StandingsHistory, about: str) -> Markup:
    """Draw the IMPs of some players, added up deal by deal; below it names, in several lines where they are long."""
    few = len(course.deals) < MOST_PLAYS
    chart = pygal.Line(**SETTINGS, **_numbered(course.deals), show_dots=few, show_legend=False)
    for line in course.lines:
        chart.add(None, [float(Fraction(imp)) for imp in line.imps])
    drawn = _drawn(chart, about, [float(Fraction(imp)) for line in course.lines for imp in line.imps])
    names = Markup().join(LEGEND_LINE.format(at=at, name=line.name) for at, line in enumerate(course.lines))
    return drawn + Markup('<ul class="legend">{}</ul>').format(names)


def deal_chart(sheet: DealSheet, about: str, seats: Mapping[str, str]) -> Markup | None:
    """Draw how a deal went around the room: the points of each seat, in the order in which tables played it."""
    plays = sorted((play for group in sheet.groups for play in group.plays), key=lambda play: (play.round, play.table))
    points = [line.points or 0 for play in plays for line in play.seats.values()]
    if not 1 < len(plays) <= MOST_PLAYS or not any(points):
        return None
    chart = pygal.Bar(**SETTINGS, **_numbered([play.table for play in plays]))
    for seat in SEATS:
        chart.add(seats[seat], [play.seats[seat].points for play in plays])
    return _drawn(chart, about, points)


def player_chart(sheet: PlayerSheet, about: str, seats: Mapping[str, str]) -> Markup | None:
    """Draw a player's points against the IMPs that they gave, by seat."""
    drawn = _player_chart(tuple((play.seat, play.line.points, play.line.imp) for play in sheet.plays))
    return drawn and drawn.format(about=about, **seats)


@lru_cache(maxsize=8)
def _player_chart(plotted: tuple[tuple[Seat, int | None, Imp | None], ...]) -> Markup | None:
    """Draw it with names of fields where words stand: one page after the other has it in each language."""
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
    """Return what stands below a chart: of many numbers only some."""
    labels: dict[str, Any] = {"x_labels": [*map(str, numbers)]}
    if len(numbers) > MOST_NUMBERS:
        labels |= {"x_labels_major_every": -(-len(numbers) // MOST_NUMBERS), "show_minor_x_labels": False}
    return labels


def _drawn(chart: pygal.Graph, about: str, heights: Sequence[float], kind: str = "chart") -> Markup:
    """Return the drawing without what the page's policy forbids, told to those who cannot see it by its name.

    Points and IMPs are whole: so are the numbers at the side, which hold all `heights` and 0.
    """
    low, high = math.floor(min(*heights, 0, 0)), math.ceil(max(*heights, 0, 0))
    step = next(step for step in count_steps() if (high - low) <= step * MOST_RULES)
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


def count_steps() -> Iterator[int]:
    """Return by what people count on: 1, 2, 5, 10, 20, 50 and so on."""
    return (step * 10**power for power in count() for step in (1, 2, 5))


def _is_overlay(element: Element) -> bool:
    """Return whether a group is there for pygal's script alone; the dots lie in another."""
    return element.get("class", "").endswith(("tooltip-overlay", "text-overlay"))


BAR_WIDE: Final = 200
BAR_HIGH: Final = 16


def interval_bar(interval: Interval, span: tuple[float, float]) -> Markup:
    """Draw an interval with its estimate, between the ends of a span; beside it stands the same in numbers.

    Wherever 0 is within the span, a line marks it.
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
    """Return the QR code of a text."""
    size, runs = qr_code(text)
    path = "".join(f"M{x} {y}h{length}v1h{-length}z" for x, y, length in runs)
    return Markup(
        '<svg class="qr" viewBox="0 0 {size} {size}" role="img" aria-label="QR: {text}">'
        '<rect width="{size}" height="{size}"/><path d="{runs}"/></svg>'
    ).format(size=size, text=text, runs=path)
