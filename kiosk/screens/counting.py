"""A winner's hand counted from the backs of its tiles: what lies there, what is asked, what it is worth.

The camera's picture shows backs alone. Faces are not on this device: the scorer tells the fan, by their names.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

import pygame

from broker.contract.counting import McrValue, NotCounted
from broker.rules.fan import catalogue
from broker.rules.laid_hand import LaidHand
from kiosk.counting.desk import CountShown
from kiosk.counting.state import Counting
from kiosk.screens import style
from kiosk.screens.heap import picture
from kiosk.screens.middle import Action, Middle, Paint, Rows
from kiosk.screens.pen import Pen, Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

FAN_LANGUAGES: Final[Mapping[str, catalogue.Language]] = {language: language for language in catalogue.LANGUAGES}

LEADING: Final = 0.006
"""Between two fan, as a share of the screen's height."""


def counting(words: Words, shown: Shown) -> Middle | None:
    """Whatever the counting of a hand has come to."""
    if shown.count is None:
        return None
    now = shown.count.counting
    head = *extra(words, shown), Said(words("count_of", seat=words.seat(now.winner.seat)), 0.07, style.TEXT)
    said, paint = _told(words, shown.count)
    lines, by_keypad = (*head, *said, *problem(words, shown)), Action("back", words("do_by_keypad"))
    if now.asked is None and isinstance(now.hand, str):  # nothing to ask yet: the picture has the room
        return Middle(lines, (by_keypad,), paint=paint, seats=False)
    return Middle(lines, panel=_panel(words, now, by_keypad), paint=paint, seats=False)


def _told(words: Words, shown: CountShown) -> tuple[tuple[Said, ...], Paint | None]:
    """Give what is said of the hand, and what is drawn under it."""
    match shown.counting.answer:
        case McrValue() as value:
            return _valued(words, value), _list(words, value)
        case NotCounted(code=code):
            return (Said(words.problem(code), 0.06, style.ATTENTION),), None
        case _:
            return (*_waiting(words, shown),), _seen(shown.counting)


def _waiting(words: Words, shown: CountShown) -> Iterator[Said]:
    """Say what is read, or that the answer is to come."""
    now, hand = shown.counting, shown.counting.hand
    if now.asked is not None:
        yield Said(words("count_silent" if shown.silent else "count_asked"), 0.06, style.ATTENTION)
    elif isinstance(hand, str):
        yield Said(words.problem(hand), 0.05, style.ATTENTION)
        yield Said(words("count_help"), 0.055, style.QUIET)
    else:
        yield from _read(words, hand, still=now.sight.still)


def _read(words: Words, hand: LaidHand, *, still: bool) -> Iterator[Said]:
    parts = words("count_parts", concealed=len(hand.concealed), melds=len(hand.melds))
    yield Said(parts, 0.05, style.GOOD if still else style.QUIET)
    drawn = words("self_drawn") if hand.discarder is None else words("on_discard", seat=words.seat(hand.discarder))
    yield Said(drawn if still else words("count_moving"), 0.05, style.TEXT)


def _seen(now: Counting) -> Paint | None:
    return picture(now.sight.view) if now.sight.view is not None else None


# ---- what may be touched ------------------------------------------------------------------------


def _panel(words: Words, now: Counting, by_keypad: Action) -> Rows:
    if now.asked is None:
        return (*_questions(words, now), *_ask(words, now), (by_keypad,))
    again = (Action("r", words("do_read_again")),)
    if now.accepted is not None:
        return ((Action("enter", words("do_accept_value", fan=now.accepted), "strong"),), again, (by_keypad,))
    false_hu = ((Action("x", words("do_false_hu")),),) if now.may_be_false else ()
    return (again, (by_keypad,), *false_hu)


def _ask(words: Words, now: Counting) -> Rows:
    return ((Action("enter", words("do_ask_count"), "strong"),),) if now.sight.still else ()


def _questions(words: Words, now: Counting) -> Iterator[tuple[Action, ...]]:
    """Ask what the tiles cannot tell, where the hand allows it."""
    hand, said = now.hand, now.said
    if not isinstance(hand, LaidHand):
        return
    if now.may_be_last_tile:
        yield (_question(words, "l", "count_last_tile", said.last_tile),)
    if now.may_be_kong:
        kind = "count_replacement" if hand.discarder is None else "count_robbed"
        yield (_question(words, "k", kind, said.kong),)
    yield (_question(words, "o", "count_last_of_kind", said.last_of_kind),)


def _question(words: Words, key: str, asked: str, yes: bool) -> Action:  # noqa: FBT001 - the answer as it stands
    answer = words("do_riichi_yes" if yes else "do_riichi_no")
    return Action(key, words(asked, answer=answer), "strong" if yes else "plain")


# ---- what it is worth ---------------------------------------------------------------------------


def _valued(words: Words, value: McrValue) -> tuple[Said, ...]:
    if value.fan < value.minimum:
        return (Said(words("count_under", fan=value.fan, minimum=value.minimum), 0.06, style.ATTENTION),)
    return (Said(words("count_total", fan=value.fan), 0.09, style.GOOD),)


def _list(words: Words, value: McrValue) -> Paint:
    """Give what writes the fan below each other: names on the left, what each is worth on the right."""
    times = Counter((one.id, one.fan) for one in value.elements)
    rows = [(_name(words, fan_id, many), str(fan * many)) for (fan_id, fan), many in times.items()]

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: Pen) -> None:
        number, leading = room.width // 6, round(LEADING * surface.get_height())
        wide = room.width - number
        lines = pen.fit([Said(name, 0.055, style.TEXT) for name, _ in rows], wide, room.height, leading)
        share, y = pen.share([line.text for line in lines], lines[0].share if lines else 0.05, wide), room.top
        for line, (_, fan) in zip(lines, rows, strict=True):
            stands = pen.write(surface, line.text, (room.left, y), share, style.TEXT, wide)
            pen.write(surface, fan, (room.right, y), share, style.TEXT, number, align="right")
            y = stands.bottom + leading

    return paint


def _name(words: Words, fan_id: str, times: int) -> str:
    """Name a fan; of one that this version does not know, its id."""
    known = fan_id in catalogue.entries()
    name = catalogue.name(fan_id, FAN_LANGUAGES.get(words.language, "en")) if known else fan_id
    return f"{name} ×{times}" if times > 1 else name
