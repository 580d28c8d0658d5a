"""The riichi points table by han and fu, and by limit, computed by the payment function; as text and as PDF."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from rich.cells import cell_len

from broker.export.pdf import draw_fitted, draw_text, drawn_pdf
from broker.i18n import SOURCE, Translator, languages
from broker.rules.riichi import (
    SEVEN_PAIRS_FU,
    WINNING_FU,
    Language,
    Limit,
    PaidWin,
    PointRules,
    RiichiProfile,
    possible_wins,
    riichi_name,
    riichi_payments,
)

FU: Final = (WINNING_FU, SEVEN_PAIRS_FU, *range(30, 120, 10))
HAN: Final = (1, 2, 3, 4)
LIMITS: Final[tuple[tuple[Limit, str, int], ...]] = (
    ("mangan", "5", 5),
    ("haneman", "6-7", 6),
    ("baiman", "8-10", 8),
    ("sanbaiman", "11-12", 11),
    ("counted_yakuman", "13+", 13),
)
"""Each limit with the text for its han, and the han used to compute it."""


@dataclass(frozen=True, slots=True)
class PointsCell:
    """The payments for a hand, on a discard and self-drawn; None if no hand can have that value in that way.

    `self_drawn` is what each of two pays and what the dealer pays, or a single amount for the dealer's hand.
    """

    on_discard: int | None
    self_drawn: tuple[int, ...] | None
    mangan: bool = False

    def __str__(self) -> str:
        drawn = "-" if self.self_drawn is None else "/".join(map(str, self.self_drawn))
        return f"{'-' if self.on_discard is None else self.on_discard} ({drawn})"


def points_rows(profile: RiichiProfile, *, dealer: bool) -> Iterator[tuple[int, tuple[PointsCell, ...]]]:
    """Yield each row: the fu, and a cell for 1 to 4 han."""
    for fu in FU:
        yield fu, tuple(_points_cell(profile, han, fu, dealer=dealer) for han in HAN)


def limit_rows(profile: RiichiProfile, *, dealer: bool) -> Iterator[tuple[Limit, str, PointsCell]]:
    """Yield each limit with its han and its cell. There is no separate row for 13 han if they are a sanbaiman."""
    rules = profile.points
    for limit, han_text, han in LIMITS:
        if limit == "counted_yakuman" and rules.counted_yakuman.value == "sanbaiman":
            continue
        last = limit == "sanbaiman" and rules.counted_yakuman.value == "sanbaiman"
        yield limit, "11+" if last else han_text, _points_cell(profile, han, 30, dealer=dealer)
    yield "yakuman", "", _cell_of(rules, PaidWin(0, 0, dealer, self_drawn=False, yakuman=1), (True, True))


def _points_cell(profile: RiichiProfile, han: int, fu: int, *, dealer: bool) -> PointsCell:
    possible = possible_wins(han, fu, profile.fu)
    return _cell_of(profile.points, PaidWin(han, fu, dealer, self_drawn=False), possible)


def _cell_of(rules: PointRules, win: PaidWin, possible: tuple[bool, bool]) -> PointsCell:
    discarded, drawn = possible
    on_discard = riichi_payments(win, rules)
    own = riichi_payments(PaidWin(win.han, win.fu, win.dealer, self_drawn=True, yakuman=win.yakuman), rules)
    parts = (own.each_non_dealer_pays, own.dealer_pays, own.each_other_pays)
    return PointsCell(
        on_discard.discarder_pays if discarded else None,
        tuple(part for part in parts if part is not None) if drawn else None,
        on_discard.limit == "mangan",
    )


def pad_right(text: str, width: int) -> str:
    """Return a text padded on the right to a width in terminal cells."""
    return text + " " * (width - cell_len(text))


def pad_left(text: str, width: int) -> str:
    """Return a text padded on the left to a width in terminal cells."""
    return " " * (width - cell_len(text)) + text


COLUMN_WIDTH: Final = 18
"""Characters of a column; the first is narrower."""

FIRST_WIDTH: Final = 8


def points_table_text(profile: RiichiProfile, language: Language) -> str:
    """Return the whole table as text."""
    return "\n".join(_lines(profile, language))


def _lines(profile: RiichiProfile, language: Language) -> Iterator[str]:
    _ = translator(language)
    for dealer in (False, True):
        yield (_("Dealer") if dealer else _("Non-dealer")).upper()
        yield (
            pad_left(_("fu"), FIRST_WIDTH - 2)
            + "  "
            + "".join(pad_right(_("{han} han", han=han), COLUMN_WIDTH) for han in HAN).rstrip()
        )
        for fu, cells in points_rows(profile, dealer=dealer):
            yield f"{fu:>{FIRST_WIDTH - 2}}  " + "".join(f"{cell!s:<{COLUMN_WIDTH}}" for cell in cells).rstrip()
        for limit, han, cell in limit_rows(profile, dealer=dealer):
            yield f"{han:>{FIRST_WIDTH - 2}}  {pad_right(riichi_name('limit', limit, language), COLUMN_WIDTH)}{cell}"
        yield ""
    yield counters_text(profile, language)
    yield _("Rules: {title} ({id}, version {version})", title=profile.title, id=profile.id, version=profile.version)


def counters_text(profile: RiichiProfile, language: Language) -> str:
    """Return a sentence on the value of counters and deposits."""
    counter, deposit = profile.points.counter.value, profile.points.deposit.value
    _ = translator(language)
    return _(
        "Each counter adds {counter} from the discarder, or {each} from each of the three. Riichi deposit: {deposit}.",
        counter=counter,
        each=counter // 3,
        deposit=deposit,
    )


def translator(language: Language) -> Translator:
    """Return the translator for the language of the names; Japanese terms appear in English sentences."""
    return Translator(language if language in languages() else SOURCE)


MARGIN: Final = 12 * mm
GAP: Final = 9 * mm
TOP: Final = 190 * mm
ROW: Final = 9.6 * mm
FU_WIDTH: Final = 14 * mm
LIMIT: Final = 46 * mm
SHADE: Final = 0.9
LARGE: Final = 12
SMALL: Final = 8.5


class Half(NamedTuple):
    """The position of one half of the page, and whether it is the dealer's."""

    left: float
    width: float
    dealer: bool


def points_table_pdf(profile: RiichiProfile, language: Language) -> bytes:
    """Return the PDF; the same table gives the same bytes."""
    return drawn_pdf([partial(_page, profile, language)], profile.title, translator(language).language, landscape(A4))


def _page(profile: RiichiProfile, language: Language, canvas: Canvas) -> None:
    width = (landscape(A4)[0] - 2 * MARGIN - GAP) / 2
    for half in (Half(MARGIN, width, dealer=False), Half(MARGIN + width + GAP, width, dealer=True)):
        _half(canvas, half, profile, language)
    _foot(canvas, profile, language)


def _half(canvas: Canvas, half: Half, profile: RiichiProfile, language: Language) -> None:
    _ = translator(language)
    draw_text(canvas, (half.left, TOP + 4 * mm), _("Dealer") if half.dealer else _("Non-dealer"), 17, bold=True)
    legend = (
        _("Bold: paid by the discarder · below, self-drawn: paid by each of the three")
        if half.dealer
        else _("Bold: paid by the discarder · below, self-drawn: paid by each non-dealer / the dealer")
    )
    draw_fitted(canvas, (half.left, TOP - 0.5 * mm), legend, half.width, (8, 6))
    bottom = _head(canvas, half, TOP - 9 * mm, _)
    for at, (fu, cells) in enumerate(points_rows(profile, dealer=half.dealer)):
        bottom -= ROW
        _shade(canvas, half, bottom, at)
        _centred(canvas, half.left + FU_WIDTH / 2, bottom + ROW / 2 - 4, str(fu), LARGE)
        _cells(canvas, half, bottom, cells, language)
    _limits(canvas, half, bottom - 3 * mm, profile, language)


def _head(canvas: Canvas, half: Half, base: float, _: Translator) -> float:
    """Draw the column titles; return where the rows begin."""
    column = (half.width - FU_WIDTH) / len(HAN)
    _centred(canvas, half.left + FU_WIDTH / 2, base, _("fu"), 10)
    for at, han in enumerate(HAN):
        _centred(canvas, half.left + FU_WIDTH + (at + 0.5) * column, base, _("{han} han", han=han), 10)
    return float(base - 2 * mm)


def _cells(canvas: Canvas, half: Half, bottom: float, cells: tuple[PointsCell, ...], language: Language) -> None:
    column = (half.width - FU_WIDTH) / len(cells)
    for at, cell in enumerate(cells):
        middle = half.left + FU_WIDTH + (at + 0.5) * column
        if cell.mangan:
            _centred(canvas, middle, bottom + ROW / 2 - 3, riichi_name("limit", "mangan", language), 9.5, bold=False)
        else:
            _cell(canvas, middle, bottom, cell)


def _cell(canvas: Canvas, middle: float, bottom: float, cell: PointsCell) -> None:
    """Draw both lines. Values that no hand reaches get a dash, so that nothing looks forgotten."""
    if cell.on_discard is None and cell.self_drawn is None:
        _centred(canvas, middle, bottom + ROW / 2 - 3, "–", LARGE, bold=False)
        return
    on_discard = "–" if cell.on_discard is None else str(cell.on_discard)
    _centred(canvas, middle, bottom + ROW - 4.6 * mm, on_discard, LARGE, bold=cell.on_discard is not None)
    self_drawn = "–" if cell.self_drawn is None else " / ".join(map(str, cell.self_drawn))
    _centred(canvas, middle, bottom + 1.5 * mm, self_drawn, SMALL, bold=False)


def _limits(canvas: Canvas, half: Half, top: float, profile: RiichiProfile, language: Language) -> None:
    _ = translator(language)
    for at, (limit, han, cell) in enumerate(limit_rows(profile, dealer=half.dealer)):
        bottom = top - (at + 1) * ROW * 0.76
        canvas.line(half.left, bottom, half.left + half.width, bottom)
        base = bottom + 2.2 * mm
        han_text, middle = _("{han} han", han=han) if han else "", half.left + FU_WIDTH / 2
        draw_fitted(canvas, (middle, base), han_text, FU_WIDTH, (9, 6), bold=True, align="centre")
        draw_text(canvas, (half.left + FU_WIDTH + 4 * mm, base), riichi_name("limit", limit, language), 10)
        draw_text(canvas, (half.left + FU_WIDTH + LIMIT, base), str(cell.on_discard), LARGE, bold=True)
        drawn = " / ".join(map(str, cell.self_drawn or ()))
        draw_text(canvas, (half.left + half.width - 1 * mm, base), drawn, 10, align="right")


def _foot(canvas: Canvas, profile: RiichiProfile, language: Language) -> None:
    _ = translator(language)
    draw_text(canvas, (MARGIN, 13 * mm), counters_text(profile, language), 9)
    text = _("Rules: {title} ({id}, version {version})", title=profile.title, id=profile.id, version=profile.version)
    draw_text(canvas, (MARGIN, 8 * mm), text, 8)


def _shade(canvas: Canvas, half: Half, bottom: float, at: int) -> None:
    """Shade every second row, to guide the eye to the column."""
    if at % 2 == 0:
        canvas.setFillGray(SHADE)
        canvas.rect(half.left, bottom, half.width, ROW, stroke=0, fill=1)
        canvas.setFillGray(0)


def _centred(canvas: Canvas, middle: float, base: float, text: str, size: float, *, bold: bool = True) -> None:
    draw_text(canvas, (middle, base), text, size, bold=bold, align="centre")
