"""Files that are replaced in one step, such as a pairing and the arbiters' PIN: each is the old one or the new one."""

import random
from pathlib import Path

from broker.files import write_file
from broker.protocol import ArbiterPin
from broker.protocol.pairing import Pairing, TableBroker
from kiosk.arbiter_pin import TablePin
from kiosk.config import store_pairing, stored_pairing
from kiosk.errors import BadConfiguration, NotPaired
from tests.power.subject import Cut, Outcome, Subject, Tell, digest

STEPS = 12
PAIRED = Path("var") / "paired"
EVENTS = ("cup-a", "cup-b")


def write(disk: Path, seed: int, tell: Tell) -> None:
    """Pair with two events in turn, store PINs, and write files of all sizes."""
    chance = random.Random(seed)
    tell("paired", event="", password="")
    tell("pin", mark=None)
    for step in range(STEPS):
        match chance.randrange(3):
            case 0:
                event, password = chance.choice(EVENTS), f"{chance.randrange(10**16):016}"
                broker = TableBroker(host="hall.example.org", port=8883, password=password)
                store_pairing(disk / PAIRED, Pairing(event=event, table=1, broker=broker))
                tell("paired", event=event, password=password)
            case 1:
                pin, mark = kept_pin(disk), f"{chance.randrange(3):016}"
                told = ArbiterPin(id=f"pin-{step:04}", event="cup-a", seq=step, table=1, key="0" * 64, mark=mark)
                pin.take(told)
                tell("pin", mark=pin.mark)
            case _:
                content = chance.randbytes(chance.choice((1, 600, 9000)))
                write_file(disk / "file", content)
                tell("file", content=digest(content))


def kept_pin(disk: Path) -> TablePin:
    """Return what a table has stored of the arbiters' PIN."""
    return TablePin(disk / "arbiter-pin-told", ("cup-a", 1, "device"), lambda _session, _sealed: False)


def check(cut: Cut, outcome: Outcome) -> None:
    """Read the files as the programs do: each must be the last one promised, or the next."""
    honest = cut.lie == "none"
    around = cut.around("paired")
    try:
        paired = stored_pairing(cut.disk / PAIRED)
        password = (cut.disk / PAIRED / paired.password_file).read_text(encoding="utf-8").strip()
        allowed = [(one["event"], one["password"]) for one in around]
        passwords = {said for event, said in allowed if event == paired.event}
        there = paired.event in {event for event, _ in allowed} and password in passwords | last_password(
            cut, paired.event
        )
        outcome.must(there or not honest, f"paired with {paired.event} and another password")
    except NotPaired:
        outcome.must(any(not one["event"] for one in around) or not around or not honest, "the pairing is lost")
    except (BadConfiguration, OSError, ValueError) as broken:
        outcome.must(not honest, f"the pairing is broken: {broken}")
        outcome.notes["bad_configuration"] += 1
    mark = kept_pin(cut.disk).mark
    marks = [one["mark"] for one in cut.around("pin")]
    outcome.must(mark in marks or not marks or not honest, "the PIN is another, or lost")
    kept, path = [one["content"] for one in cut.around("file")], cut.disk / "file"
    if cut.before("file") and honest:
        outcome.must(path.exists() and digest(path.read_bytes()) in kept, "a file is neither the old one nor the new")
    elif path.exists() and honest:
        outcome.must(digest(path.read_bytes()) in kept, "a file is half there")


def last_password(cut: Cut, event: str) -> set[str]:
    """Return the password that the event issued last."""
    return {one["password"] for one in [one for one in cut.before("paired") if one["event"] == event][-1:]}


SETTINGS = Subject("settings", write, check, kills=False)
