"""A draw by two people, made with the commands."""

from pathlib import Path
from typing import Final

from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.rules.commitment import words_hash
from tests.broker.event.deals.asking import done

WORDS: Final = {"Li Wei": "alpha beta gamma", "Anne": "delta 西 风"}
BEACON: Final = ("drand", "77")
VALUE: Final = "9f3c"


def announce(folder: Path, *more: object, deals: int = 4, beacon: tuple[str, ...] = ()) -> str:
    """Announce a draw of the event `cup`; return the hash to be published."""
    people = [f"--person={name}={words_hash(words)}" for name, words in WORDS.items()]
    value = ("--beacon", *beacon) if beacon else ()
    told = done("draw", "announce", "--event", "cup", "--deals", deals, *people, *value, *more, folder)
    return told.split()[-1]


def say(folder: Path, *words: str, value: str = "") -> Result:
    """Enter words at the prompts, by default those of all people."""
    said = words or tuple(WORDS.values())
    arguments = ["deal", "draw", "make", str(folder), "--beacon-value", value]
    return CliRunner().invoke(homologue, arguments, input="".join(f"{one}\n" for one in said))


def drawn(folder: Path, *more: object, deals: int = 4) -> Path:
    """Return a folder with drawn deals."""
    announce(folder, *more, deals=deals)
    assert say(folder).exit_code == 0
    return folder
