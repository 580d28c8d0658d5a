"""`python -m vision.training.calibrate`: show how reliable the digit readers' confidence is, as tables and curves.

The SVG shows on the left how often serials were wrong at each confidence, and on the right what each threshold costs.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import log10
from pathlib import Path
from typing import Final

from vision.marks.read import SURE
from vision.training.calibration import (
    DOUBTS,
    CalibrationReads,
    ConfidenceBin,
    ThresholdCount,
    confidence_bins,
    count_at_threshold,
    lowest_safe,
    read_drawn,
    read_pictures,
)

_SIZE: Final = (880, 412)
_TOP: Final = 76
_BOTTOM: Final = 330
_LEGEND: Final = 398  # pixels down
_WIDTH: Final = 330
_LEFTS: Final = (74, 516)
_DECADES: Final = 4  # doubts from 1 down to 1/10,000; smaller ones are drawn at the edge
_BLUE: Final = "#0072b2"  # this and the red are Okabe and Ito's, which colour-blind people can tell apart
_RED: Final = "#d55e00"
_GREY: Final = "#d9d9d9"
_INK: Final = "#333"
_CONFIDENCES: Final = ("0", "0.9", "0.99", "0.999", "0.9999")
_SHARES: Final = ("100 %", "10 %", "1 %", "0.1 %", "≤ 0.01 %")


@dataclass(frozen=True, slots=True)
class _Panel:
    """A chart with two logarithmic axes: confidence grows to the right, and shares decrease downwards."""

    left: float

    def x(self, doubt: float) -> float:
        """Return the position of a doubt; confidence grows to the right."""
        return self.left + _WIDTH * _depth(doubt) / _DECADES

    def y(self, share: float) -> float:
        """Return the position of a share."""
        return _TOP + (_BOTTOM - _TOP) * _depth(share) / _DECADES

    def frame(self, title: str, below: str, beside: str) -> Iterator[str]:
        """Draw the grid, the labels of the axes, and the titles."""
        yield _text(self.left - 44, 26, title, weight=600, size=15)
        yield _text(self.left - 44, 46, beside, colour="#666")
        for decade in range(_DECADES + 1):
            x, y = self.x(10.0**-decade), self.y(10.0**-decade)
            yield _line(x, _TOP, x, _BOTTOM, _GREY) + _line(self.left, y, self.left + _WIDTH, y, _GREY)
            yield _text(x, _BOTTOM + 20, _CONFIDENCES[decade], anchor="middle")
            yield _text(self.left - 8, y + 4, _SHARES[decade], anchor="end")
        yield _text(self.left + _WIDTH / 2, _BOTTOM + 42, below, anchor="middle", colour="#666")

    def mark(self, doubt: float) -> Iterator[str]:
        """Draw the threshold in use."""
        x = self.x(doubt)
        yield _line(x, _TOP, x, _BOTTOM, _INK, dash="2 3")
        yield _text(x, _TOP - 8, f"threshold {1 - doubt:.4g}", anchor="middle")


def _depth(share: float) -> float:
    return min(-log10(share), float(_DECADES)) if share > 0 else float(_DECADES)


def draw_chart(reads: CalibrationReads, threshold: float) -> str:
    """Return both panels as the text of an SVG."""
    trust, cost = (_Panel(left) for left in _LEFTS)
    parts = [
        *trust.frame("How reliable is the confidence?", "confidence", "share of serials that were wrong"),
        *_reliability(trust, list(confidence_bins(reads))),
        *trust.mark(1 - threshold),
        *cost.frame("What a threshold costs", "threshold of confidence", "share of marks"),
        *_tradeoff(cost, [count_at_threshold(reads, 1 - doubt) for doubt in (1.0, *DOUBTS)]),
        *cost.mark(1 - threshold),
    ]
    width, height = _SIZE
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="12" role="img">'
        "<title>How often serials were wrong at each confidence, and what a threshold costs</title>"
        f'<rect width="{width}" height="{height}" fill="#fff"/>'
    )
    return "\n".join([head, *parts, "</svg>", ""])


def _reliability(panel: _Panel, found: Sequence[ConfidenceBin]) -> Iterator[str]:
    """Draw the share of wrong serials at each confidence, with its range; on the dashed line confidence is exact."""
    end = 10.0**-_DECADES
    yield _line(panel.x(1), panel.y(1), panel.x(end), panel.y(end), "#999", dash="6 4")
    yield _text(panel.x(0.015), panel.y(0.045), "as often as stated", colour="#666")
    for group in found:
        x = panel.x(group.doubt)
        yield _line(x, panel.y(group.most), x, panel.y(group.least), _BLUE, width=1.5)
        if group.wrong:
            yield _dot(x, panel.y(group.wrong / group.count), _BLUE)
        else:
            yield _dot(x, panel.y(group.most), "#fff", edge=_BLUE)
    yield _dot(_LEFTS[0] - 12, _LEGEND - 4, _BLUE) + _text(_LEFTS[0] - 2, _LEGEND, "measured, and 95 % range")
    yield _dot(_LEFTS[0] + 186, _LEGEND - 4, "#fff", edge=_BLUE) + _text(
        _LEFTS[0] + 196, _LEGEND, "none wrong: at most this"
    )


def _tradeoff(panel: _Panel, cuts: Sequence[ThresholdCount]) -> Iterator[str]:
    """Draw the share of marks not read, and that of wrong serials, at each threshold."""
    curves: tuple[tuple[str, str, Callable[[ThresholdCount], float]], ...] = (
        (_BLUE, "marks not read", lambda one: 1 - one.read / max(one.readable, 1)),
        (_RED, "wrong serials", lambda one: one.wrong / max(one.looks, 1)),
    )
    for number, (colour, name, share) in enumerate(curves):
        points = [(panel.x(1 - one.threshold), panel.y(share(one)), share(one)) for one in cuts]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, some in points if some > 0)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"/>'
        yield from (_dot(x, y, colour if some > 0 else "#fff", edge=colour) for x, y, some in points)
        at = _LEFTS[1] + 8 + 130 * number
        yield _dot(at, _LEGEND - 4, colour) + _text(at + 10, _LEGEND, name)
    yield _dot(_LEFTS[1] + 256, _LEGEND - 4, "#fff", edge=_RED) + _text(_LEFTS[1] + 266, _LEGEND, "none")


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", colour: str = _INK, weight: int = 400, size: int = 12
) -> str:
    style = f'text-anchor="{anchor}" fill="{colour}" font-weight="{weight}" font-size="{size}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, dash: str = "", width: float = 1.0) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dash}"/>'


def _dot(x: float, y: float, colour: str, *, edge: str = "") -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" stroke="{edge or colour}" stroke-width="1.5"/>'


def _main() -> None:
    """Read marks as the options say, print the tables, and write the chart."""
    options = _options()
    reads = read_pictures(options.pictures) if options.pictures else read_drawn(options.crops, options.processes)
    print("\n".join(threshold_table(reads)))
    print(f"\nlowest safe threshold: {lowest_safe(reads)}; in force: {SURE}")
    if options.out:
        options.out.write_text(draw_chart(reads, SURE), encoding="utf-8")


def threshold_table(reads: CalibrationReads) -> Iterator[str]:
    """Yield Markdown tables: the counts at each threshold, then how often serials of each confidence were wrong."""
    yield "| threshold | marks | read | not read | wrong serials |"
    yield "|---|---|---|---|---|"
    for threshold in sorted({*(1 - doubt for doubt in DOUBTS), SURE}):
        counts = count_at_threshold(reads, threshold)
        share = 100 * counts.read / max(counts.readable, 1)
        read = f"{share:.2f} % | {100 - share:.2f} %"
        yield f"| {threshold:.4g} | {counts.readable} | {read} | {counts.wrong} of {counts.looks} |"
    yield "\n| confidence | serials | wrong | share wrong, 95 % sure |\n|---|---|---|---|"
    for group in confidence_bins(reads):
        yield f"| {1 - group.doubt:.4g} | {group.count} | {group.wrong} | {group.least:.2g} to {group.most:.2g} |"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crops", type=int, default=50_000, help="crops to draw (default: %(default)s)")
    parser.add_argument("--pictures", type=Path, help="read this folder's pictures instead (tileback-truth/1)")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, help="an SVG file for the curves")
    return parser.parse_args()


if __name__ == "__main__":
    _main()
