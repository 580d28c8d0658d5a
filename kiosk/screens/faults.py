"""What is wrong with a part of the device, in a sentence: at the foot of every screen, and in the self-test."""

from kiosk.screens.words import Words


def faulty(words: Words, part: str, code: str) -> str:
    """Say which part it is and what is wrong with it; by its code where there is no word for that."""
    return words("faulty", part=named(words, part), fault=fault(words, part, code))


def named(words: Words, part: str) -> str:
    """Name a part as its health does: `camera`, `button-east`."""
    kind, _, seat = part.partition("-")
    name = f"part_{kind}"
    if name not in words:
        return part
    return words(name, seat=words.seat(seat)) if seat else words(name)


def fault(words: Words, part: str, code: str) -> str:
    """Say what is wrong with a part."""
    name = next((one for one in (f"fault_{code}", f"fault_of_{part}") if one in words), None)
    return words(name) if name else code


def remedy(words: Words, code: str) -> str:
    """Say what to do; nothing where nobody at the table can do anything."""
    name = f"remedy_{code}"
    return words(name) if name in words else ""


def with_remedy(words: Words, part: str, code: str) -> str:
    """Say what is wrong and what to do, in one line."""
    what, help_ = faulty(words, part, code), remedy(words, code)
    return words("fault_and_remedy", fault=what, remedy=help_) if help_ else what
