"""What is wrong with a table's device, and in spite of what a play goes on: in words, the code beside them.

Codes come from devices of any version: one that has no words here is shown as it came.
"""

from typing import Final

from markupsafe import Markup

from broker.desk.catalogue import Catalogue

BETWEEN: Final = Markup(" · ")


def faulty(words: Catalogue, part: str, code: str) -> Markup:
    """Say which part it is and what is wrong with it. `part` as health names it: `camera`, `button-east`."""
    known = next((key for key in (f"unwell_{code}", f"unwell_of_{part}") if key in words.sentences), None)
    if known is None:
        return words.say("unwell", part=named(words, part), fault=code)
    said = words.say("unwell", part=named(words, part), fault=words.say(known))
    return _with_code(said, code)


def named(words: Catalogue, part: str) -> Markup:
    """Name a part of a device."""
    kind, _, seat = part.partition("-")
    if f"part_{kind}" not in words.sentences or (seat and f"seat_{seat}" not in words.sentences):
        return Markup("{}").format(part)
    return words.say(f"part_{kind}", seat=words.say(f"seat_{seat}") if seat else "")


def changed(words: Catalogue, what: str) -> Markup:
    """Say what an alert tells: `camera: camera_dark; lamps: box_silent`, or parts that are well again."""
    parts = [one.partition(": ") for one in what.split("; ")]
    return BETWEEN.join(faulty(words, part, code) if code else named(words, part) for part, _, code in parts)


def in_spite_of(words: Catalogue, guards: str) -> Markup:
    """Say what had stopped a play: `deal_played_here, out_of_order`."""
    return BETWEEN.join(_guard(words, code) for code in guards.split(", "))


def _guard(words: Catalogue, code: str) -> Markup:
    key = f"guard_{code}"
    return _with_code(words.say(key), code) if key in words.sentences else Markup("{}").format(code)


def _with_code(said: Markup, code: str) -> Markup:
    return Markup("{} <code>{}</code>").format(said, code)
