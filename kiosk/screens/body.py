"""What is said in the middle of the table's screen: the state in a word, what to do, what is wrong."""

from collections.abc import Iterator
from typing import Final

from broker.contract.words import SEATS
from kiosk.entry import Form
from kiosk.screens import style
from kiosk.screens.pen import Said
from kiosk.screens.sentences import places, verdict
from kiosk.screens.shown import Shown, Winning
from kiosk.screens.words import Words
from kiosk.table.state import Check

MOST_PLACES: Final = 4
"""As many faults of a tray as staff mend before they look up again."""


def said(words: Words, shown: Shown) -> Iterator[Said]:
    """Give the lines, from the top."""
    if shown.extra_min:
        yield Said(words("extra_time", minutes=shown.extra_min), 0.055, style.TEXT)
    if shown.paused:
        yield Said(words("paused"), 0.15, style.ATTENTION)
        yield Said(words("paused_help"), 0.06, style.TEXT)
        return
    if shown.form is not None:
        yield from _form(words, shown.form)
    elif shown.result is not None:
        yield from _result(words, shown, shown.result)
    elif shown.stopped is not None:
        names = ", ".join(shown.repeating)
        yield Said(words(f"stopped_{shown.stopped}", deal=shown.deal, names=names), 0.1, style.ATTENTION)
        yield Said(words("stopped_help"), 0.06, style.TEXT)
    elif shown.check is not None and shown.check.deal is not None:
        names_of = {"deal": shown.check.deal, "expected": shown.deal}
        yield Said(words("carrier_of", **names_of), 0.1, style.ATTENTION)
        yield Said(words("carrier_of_help", **names_of), 0.055, style.TEXT)
    elif shown.check is not None:
        yield from _check(words, shown.check)
    else:
        yield Said(words(shown.state), 0.15, style.TEXT)
        yield Said(words(f"{shown.state}_help"), 0.06, style.QUIET)
    if shown.state == "playing":
        yield Said(words("ended" if shown.ended else "draw_help"), 0.05, style.QUIET)
    if shown.problem:
        yield Said(words.problem(shown.problem), 0.06, style.ATTENTION)


def _check(words: Words, check: Check) -> Iterator[Said]:
    yield Said(verdict(words, check), 0.085, style.ATTENTION)
    sentences = [*places(words, check)]
    for sentence in sentences[:MOST_PLACES]:
        yield Said(sentence, 0.06, style.TEXT)
    if more := len(sentences[MOST_PLACES:]):
        yield Said(words("more", count=more), 0.05, style.QUIET)


def _form(words: Words, form: Form) -> Iterator[Said]:
    if form.judging and form.seat:
        yield Said(words("false_hu_of", seat=words.seat(form.seat)), 0.1, style.ATTENTION)
        yield Said(words("false_hu_help", fines=" / ".join(map(str, form.fines))), 0.06, style.QUIET)
    elif form.seat:
        yield Said(words("value_of", seat=words.seat(form.seat)), 0.1, style.TEXT)
        yield Said(form.digits or "–", 0.14, style.TEXT)
        yield Said(words("value_help"), 0.05, style.QUIET)
    else:
        yield Said(words("discarder"), 0.1, style.TEXT)
        keys = [words("discarder_help", keys=" ".join(seat[0].upper() for seat in SEATS if seat not in form.declared))]
        if len(form.declared) == 1:
            keys.append(words("self_drawn_help"))
        yield Said("   ".join([*keys, words("back_help")]), 0.055, style.QUIET)


def _result(words: Words, shown: Shown, result: Winning) -> Iterator[Said]:
    recorded = shown.state == "recorded"
    yield Said(words(shown.state), 0.1 if recorded else 0.07, style.GOOD if recorded else style.QUIET)
    yield Said(_how(words, result), 0.07 if recorded else 0.11, style.TEXT)
    yield Said(words(f"{shown.state}_help"), 0.055, style.QUIET)


def _how(words: Words, result: Winning) -> str:
    if result.win == "draw":
        return words("draw")
    if result.discarder is None:
        return words("self_drawn")
    return words("on_discard", seat=words.seat(result.discarder))
