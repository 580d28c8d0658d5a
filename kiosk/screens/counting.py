"""A winner's hand counted from the backs of its tiles: what lies there, what is asked, what the scorer answers.

The camera's picture shows backs alone. Faces are not on this device: the scorer tells fan and yaku, by their names.
"""

from collections.abc import Iterator

from broker.contract.counting import McrValue, NotCounted, RiichiValue, SaidOfRiichi
from broker.rules.laid_hand import LaidHand
from kiosk.counting.as_said import Question
from kiosk.counting.desk import CountShown
from kiosk.counting.mcr import AnyHand, OfMcr
from kiosk.counting.riichi import OfRiichi
from kiosk.counting.state import Counting
from kiosk.screens import style
from kiosk.screens.counted import listed, valued, yaku_name
from kiosk.screens.heap import picture
from kiosk.screens.middle import Action, Middle, Paint
from kiosk.screens.pen import Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.riichi_seat import worth
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

FEW = 4
"""Questions have a row each as long as there are no more; else two of them share one."""


def counting(words: Words, shown: Shown) -> Middle | None:
    """Whatever the counting of a hand has come to."""
    if shown.count is None:
        return None
    now = shown.count.counting
    head = *extra(words, shown), Said(words("count_of", seat=words.seat(now.winner.seat)), 0.07, style.TEXT)
    said, paint = _told(words, shown.count)
    lines, by_keypad = (*head, *said, *problem(words, shown)), Action("back", words("do_by_keypad"))
    if now.asked is None and not isinstance(now.hand, str):
        panel = (*_questions(words, now.questions), (*_ask(words, now), by_keypad))
        return Middle(lines, panel=panel, paint=paint, seats=False)
    fault = "do_riichi_chombo" if shown.session else "do_false_hu"
    # Nothing is asked yet, or no more: picture and list have the room.
    return Middle(lines, (*_answers(words, now, fault), by_keypad), paint=paint, seats=False)


def _told(words: Words, shown: CountShown) -> tuple[tuple[Said, ...], Paint | None]:
    """Give what is said of the hand, and what is drawn under it."""
    match shown.counting.answer:
        case McrValue() | RiichiValue() as value:
            return valued(words, value), listed(words, value)
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
        yield from (Said(words(name), 0.055, style.QUIET) for name in _help(now))
    else:
        yield from _read(words, now, hand)


def _help(now: Counting) -> Iterator[str]:
    """Name what is to be known of how a hand is laid."""
    if now.walls_ticked:
        yield "count_walls_ticked"
    yield "count_help" if isinstance(now.win, OfMcr) and not now.walls_ticked else "count_help_as_said"
    if isinstance(now.win, OfRiichi) and not now.win.known.dead_wall:
        yield "count_help_indicators"


def _read(words: Words, now: Counting, hand: AnyHand) -> Iterator[Said]:
    still = now.sight.still
    parts = words("count_parts", concealed=len(hand.concealed), melds=len(hand.melds))
    yield Said(parts, 0.05, style.GOOD if still else style.QUIET)
    if isinstance(now.said, SaidOfRiichi):
        turned = words("count_indicators", dora=len(now.said.dora), ura=len(now.said.ura))
        yield Said(turned, 0.05, style.TEXT if now.said.dora else style.ATTENTION)
    if not still:
        yield Said(words("count_moving"), 0.05, style.TEXT)
    elif isinstance(hand, LaidHand):
        drawn = words("self_drawn") if hand.discarder is None else words("on_discard", seat=words.seat(hand.discarder))
        yield Said(drawn, 0.05, style.TEXT)
    elif not now.win.ready:
        yield Said(words("count_say_tile"), 0.05, style.ATTENTION)
    elif now.walls_ticked:
        yield Said(words("count_walls_ticked"), 0.05, style.QUIET)


def _seen(now: Counting) -> Paint | None:
    return picture(now.sight.view) if now.sight.view is not None else None


# ---- what may be touched ------------------------------------------------------------------------


def _answers(words: Words, now: Counting, fault: str) -> Iterator[Action]:
    """Give what may be done with what the scorer says, or while it says nothing."""
    if now.accepted is not None:
        yield Action("enter", _accept(words, now.accepted), "strong")
    if now.asked is not None:
        yield Action("r", words("do_read_again"))
    if now.may_be_false:
        yield Action("x", words(fault))


def _accept(words: Words, value: McrValue | RiichiValue) -> str:
    if isinstance(value, McrValue):
        return words("do_accept_value", fan=value.fan)
    return words("do_accept_worth", worth=worth(words, value).text)


def _ask(words: Words, now: Counting) -> tuple[Action, ...]:
    return (Action("enter", words("do_ask_count"), "strong"),) if now.may_ask else ()


def _questions(words: Words, asked: tuple[Question, ...]) -> Iterator[tuple[Action, ...]]:
    """Ask what the tiles cannot tell."""
    each = 1 if len(asked) <= FEW else 2
    for at in range(0, len(asked), each):
        row = asked[at : at + each]
        yield tuple(_question(words, question, "\n" if len(row) > 1 else "") for question in row)


def _question(words: Words, asked: Question, between: str) -> Action:
    """Give a button with the question and, after what stands between them, the answer."""
    name = asked.answer
    answer = words(name) if name in words else yaku_name(words, name)
    return Action(asked.key, words(asked.name, answer=between + answer), "strong" if asked.strong else "plain")
