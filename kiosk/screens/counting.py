"""Screens for a winner's hand counted from the backs of its tiles: the tiles, the questions, and fan or yaku and fu.

Names come from the rule book's files.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import pygame

from broker.i18n import N_, Translator
from broker.protocol import McrValue, NotCounted, RiichiValue, RiichiWinDetails
from broker.rules.hand_from_serials import LaidHand
from broker.rules.mcr import fan
from broker.rules.riichi import names
from kiosk.counting.desk import CountingView, HandCounting
from kiosk.counting.questions import AnyHand, CountQuestion, McrQuestions, RiichiQuestions
from kiosk.screens import riichi, texts
from kiosk.screens.drawing import (
    ATTENTION,
    BODY,
    GOOD,
    LARGE,
    MUCH_SMALLER,
    QUIET,
    SMALL,
    TEXT,
    KeyButton,
    Paint,
    ScreenBody,
    TextLine,
    TextPen,
    paint_picture,
    player_line,
    seat_name,
)
from kiosk.screens.views import ScreenView, SessionView

FEW = 4
"""Up to this many questions have a row each; more share rows in pairs."""


def counting_screen(_: Translator, view: ScreenView, count: CountingView) -> ScreenBody:
    """Return the screen for the counting of a hand, at whatever stage it is."""
    now = count.counting
    head = (
        TextLine(_("Hand of {seat}", seat=seat_name(_, now.winner.seat)), LARGE),
        player_line(_, view, now.winner.seat)._replace(share=SMALL),
    )
    answer, paint = _answer_lines(_, count)
    lines, by_keypad = (*head, *answer), KeyButton("back", _("By keypad"))
    if now.request is None and not isinstance(now.hand, str):
        panel = (*_questions(_, now.questions), (*_count_buttons(_, now), by_keypad))
        return ScreenBody(lines, panel=panel, paint=paint, seats=False)
    fault = N_("Chombo") if isinstance(view.riichi, SessionView) else N_("False hu")
    # Nothing is asked yet, or any longer, so picture and list have the room.
    return ScreenBody(lines, (*_answers(_, now, fault), by_keypad), paint=paint, seats=False)


def _answer_lines(_: Translator, view: CountingView) -> tuple[tuple[TextLine, ...], Paint | None]:
    """Return the lines about the hand, and what is drawn below them."""
    match view.counting.answer:
        case McrValue() | RiichiValue() as value:
            return value_lines(_, value), paint_elements(_, value)
        case NotCounted(code=code):
            return (TextLine(texts.refusal(_, code), BODY, ATTENTION),), None
        case _:
            return (*_waiting(_, view),), _picture(view.counting)


def _waiting(_: Translator, view: CountingView) -> Iterator[TextLine]:
    """Yield what has been read, or that an answer is awaited."""
    now, hand = view.counting, view.counting.hand
    if now.request is not None:
        text = N_("No reply from the scorer. Enter the value by keypad.") if view.silent else N_("Asking the scorer.")
        yield TextLine(_(text), BODY, ATTENTION)
    elif isinstance(hand, str):
        yield TextLine(texts.refusal(_, hand), SMALL, ATTENTION)
        yield from (TextLine(_(name), BODY, QUIET) for name in _help(now))
    else:
        yield from _read(_, now, hand)


def _help(now: HandCounting) -> Iterator[str]:
    """Yield how a hand is to be laid."""
    if now.walls_ticked:
        yield N_("Walls ticked, not read: who drew the winning tile?")
    yield (
        N_("Face down on the mat: concealed tiles, each meld, last the winning tile. Two fingers between them.")
        if isinstance(now.win, McrQuestions) and not now.walls_ticked
        else N_("Concealed tiles first, then each meld, last the winning tile. Face down, two fingers between them.")
    )
    if isinstance(now.win, RiichiQuestions) and not now.win.context.dead_wall:
        yield N_("In a row below: the dora indicators, and apart those under them.")


def _read(_: Translator, now: HandCounting, hand: AnyHand) -> Iterator[TextLine]:
    still = now.observation.still
    parts = _(
        "Concealed {concealed}   Melds {melds}   Winning tile 1", concealed=len(hand.concealed), melds=len(hand.melds)
    )
    yield TextLine(parts, SMALL, GOOD if still else QUIET)
    if isinstance(now.details, RiichiWinDetails):
        turned = _("Dora indicators {dora}   Under them {ura}", dora=len(now.details.dora), ura=len(now.details.ura))
        yield TextLine(turned, SMALL, TEXT if now.details.dora else ATTENTION)
    if not still:
        yield TextLine(_("Reading: hands off the tiles."), SMALL)
    elif isinstance(hand, LaidHand):
        drawn = (
            _("Self-drawn") if hand.discarder is None else _("On {seat}’s discard", seat=seat_name(_, hand.discarder))
        )
        yield TextLine(drawn, SMALL)
    elif not now.win.ready:
        yield TextLine(_("Touch: self-drawn or discard?"), SMALL, ATTENTION)
    elif now.walls_ticked:
        yield TextLine(_("Walls ticked, not read: who drew the winning tile?"), SMALL, QUIET)


def _picture(now: HandCounting) -> Paint | None:
    return paint_picture(now.observation.view) if now.observation.view is not None else None


# ---- buttons ------------------------------------------------------------------------------------


def _answers(_: Translator, now: HandCounting, fault: str) -> Iterator[KeyButton]:
    """Yield the buttons for the scorer's answer, or while it is awaited."""
    if now.accepted is not None:
        yield KeyButton("enter", _accept(_, now.accepted), "strong")
    if now.request is not None:
        yield KeyButton("r", _("Read again"))
    if now.may_be_false:
        yield KeyButton("x", _(fault))


def _accept(_: Translator, value: McrValue | RiichiValue) -> str:
    if isinstance(value, McrValue):
        return _("Accept {fan}", fan=value.fan)
    return _("Accept {worth}", worth=riichi.hand_worth(_, value).text)


def _count_buttons(_: Translator, now: HandCounting) -> tuple[KeyButton, ...]:
    return (KeyButton("enter", _.pgettext("button", "Count"), "strong"),) if now.may_ask else ()


def _questions(_: Translator, questions: tuple[CountQuestion, ...]) -> Iterator[tuple[KeyButton, ...]]:
    """Yield rows of buttons for what the tiles cannot tell."""
    each = 1 if len(questions) <= FEW else 2
    for at in range(0, len(questions), each):
        row = questions[at : at + each]
        yield tuple(_question(_, question, "\n" if len(row) > 1 else "") for question in row)


def _question(_: Translator, question: CountQuestion, between: str) -> KeyButton:
    """Return a button with the question and, after the separator, its answer."""
    name = question.answer
    answer = _(texts.ANSWER[name]) if name in texts.ANSWER else yaku_name(_, name)
    text = _(texts.QUESTION[question.name], answer=between + answer)
    return KeyButton(question.key, text, "strong" if question.strong else "plain")


FAN_LANGUAGES: Final[Mapping[str, fan.Language]] = {language: language for language in fan.LANGUAGES}

YAKU_LANGUAGES: Final[Mapping[str, names.Language]] = {"en": "en", "fr": "fr", "zh": "zh"}

LEADING: Final = 0.006
"""Space between two rows, as a share of the screen's height."""

SHARE: Final = 0.055
"""Preferred height of a row, as a share of the screen's."""

LONGEST: Final = 6
"""Most rows of fan in one column."""

NARROW: Final = 0.62
"""Width of a single column as a share of the room's, so that the eye finds its way from left to right."""

Row = tuple[str, str]
"""The name of an element, and its worth."""


def value_lines(_: Translator, value: McrValue | RiichiValue) -> tuple[TextLine, ...]:
    """Return the total of a hand."""
    if isinstance(value, RiichiValue):
        return (TextLine(riichi.hand_worth(_, value).text, LARGE, GOOD),)
    if value.fan < value.minimum:
        text = _("{fan} fan: below the minimum of {minimum}.", fan=value.fan, minimum=value.minimum)
        return (TextLine(text, BODY, ATTENTION),)
    return (TextLine(_("{fan} fan", fan=value.fan), LARGE, GOOD),)


def paint_elements(_: Translator, value: McrValue | RiichiValue) -> Paint:
    """Return a painter for the elements of a value: names on the left, the worth of each on the right."""
    if isinstance(value, McrValue):
        fan = _fan(_, value)
        half = -(-len(fan) // 2)
        return _columns([fan[:half], fan[half:]] if len(fan) > LONGEST else [fan])
    yaku = [(yaku_name(_, one.id), _han(_, one.han, one.yakuman)) for one in value.yaku]
    return _columns([yaku, _fu(_, value)] if value.items and not value.yakuman else [yaku])


def _fan(_: Translator, value: McrValue) -> list[Row]:
    times = Counter((one.id, one.fan) for one in value.elements)
    return [(_times(fan_name(_, fan_id), many), str(fan * many)) for (fan_id, fan), many in times.items()]


def _fu(_: Translator, value: RiichiValue) -> list[Row]:
    times = Counter((one.id, one.fu) for one in value.items)
    rows = [(_times(_name("fu", _, fu_id), many), str(fu * many)) for (fu_id, fu), many in times.items()]
    return [*rows, (_("Fu, rounded up"), str(value.fu))]


def _han(_: Translator, han: int, yakuman: int) -> str:
    return _("yakuman × {count}", count=yakuman) if yakuman else _("{han} han", han=han)


def _times(name: str, times: int) -> str:
    return f"{name} ×{times}" if times > 1 else name


def fan_name(_: Translator, fan_id: str) -> str:
    """Return the name of a fan, or its id if this version does not know it."""
    if fan_id not in fan.fan_entries():
        return fan_id
    return fan.fan_name(fan_id, FAN_LANGUAGES.get(_.language, "en"))


def yaku_name(_: Translator, yaku_id: str) -> str:
    """Return the name of a yaku, or its id if this version does not know it."""
    return _name("yaku", _, yaku_id)


def _name(part: names.Part, _: Translator, of: str) -> str:
    known = of in names.riichi_names(part)
    return names.riichi_name(part, of, YAKU_LANGUAGES.get(_.language, "ja")) if known else of


def _columns(columns: Sequence[Sequence[Row]]) -> Paint:
    """Return a painter for columns of rows in one size: side by side, or in an upright room one above the other."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: TextPen) -> None:
        gap, leading = room.width // 20, round(LEADING * pen.unit)
        if len(columns) == 1 and _natural(columns[0], pen) < NARROW * room.width:
            room = room.inflate(-round((1 - NARROW) * room.width), 0)
        upright = 3 * room.height > 2 * room.width
        boxes = (
            [*_above(room, gap, [len(rows) for rows in columns])]
            if upright
            else [*_beside(room, gap, [_natural(rows, pen) for rows in columns])]
        )
        share = min(_share(pen, rows, box.width, box.height, leading) for rows, box in zip(columns, boxes, strict=True))
        for rows, box in zip(columns, boxes, strict=True):
            _write(surface, pen, rows, box, share, leading)

    return paint


def _beside(room: pygame.Rect, gap: int, natural: Sequence[int]) -> Iterator[pygame.Rect]:
    """Yield columns side by side, each with its share of the room by the width it needs."""
    left, wide = room.left, room.width - (len(natural) - 1) * gap
    for one in natural:
        box = pygame.Rect(left, room.top, wide * one // sum(natural), room.height)
        yield box
        left = box.right + gap


def _above(room: pygame.Rect, gap: int, rows: Sequence[int]) -> Iterator[pygame.Rect]:
    """Yield columns one above the other, each with its share of the room by its number of rows."""
    top, high = room.top, room.height - (len(rows) - 1) * gap
    for one in rows:
        box = pygame.Rect(room.left, top, room.width, high * one // sum(rows))
        yield box
        top = box.bottom + gap


def _natural(rows: Iterable[Row], pen: TextPen) -> int:
    """Return the width of a column at full size."""
    return max((pen.text_width(f"{name}    {worth_}", SHARE) for name, worth_ in rows), default=0)


def _number(rows: Iterable[Row], pen: TextPen, share: float, width: int) -> int:
    """Return the width of the right side: that of its widest text, but no more than half."""
    return min(width // 2, max((pen.text_width(worth, share) for _, worth in rows), default=0))


def _share(pen: TextPen, rows: Sequence[Row], width: int, high: int, leading: int) -> float:
    """Return one size for all rows: that of the longest name, unless it would make the others much smaller."""
    lines = pen.fit([TextLine(name, SHARE) for name, _ in rows], width, high, leading)
    share = lines[0].share if lines else SHARE
    alike = pen.share([name for name, _ in rows], share, width - _number(rows, pen, share, width) - width // 20)
    return max(alike, MUCH_SMALLER * share)


def _write(
    surface: pygame.Surface, pen: TextPen, rows: Sequence[Row], box: pygame.Rect, share: float, leading: int
) -> None:
    number, y = _number(rows, pen, share, box.width), box.top
    for name, worth_ in rows:
        wide = box.width - number - box.width // 20
        written = pen.write(surface, name, (box.left, y), share, TEXT, wide)
        pen.write(surface, worth_, (box.right, y), share, TEXT, number, align="right")
        y = written.bottom + leading
