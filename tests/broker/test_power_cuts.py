"""The power goes while something is written: a file is the old one or the new one, never half."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.credentials import write_private
from broker.organiser.movements.file import read_whole, write_event
from broker.scorer.event import EVENT, save
from broker.scorer.folder import DEALS
from broker.scorer.output import deliver, write_whole
from broker.store.address import SETTING, Place, write
from tests.broker.scorer.small import deals, plan, registry


class PowerCut(BaseException):
    """Ends everything, as nothing that a program catches does."""


def movement(folder: Path) -> None:
    (folder / DEALS).unlink(missing_ok=True)
    write_event(folder, read_whole(folder)[:8], force=True)


def whole_event(folder: Path) -> None:
    save(folder, replace(plan(), title="Another title"), deals(), registry())


WRITERS: list[tuple[str, Callable[[Path], object]]] = [
    (EVENT, movement),
    (EVENT, whole_event),
    ("results.csv", lambda folder: deliver(b"new" * 9_000, folder / "results.csv", source=None, force=True)),
    ("points.pdf", lambda folder: write_whole(folder / "points.pdf", b"new" * 9_000)),
    (SETTING, lambda folder: write(folder, Place("postgresql://there/db"))),
    ("players.csv", lambda folder: write_private(folder / "players.csv", b"new" * 9_000)),
]


@pytest.mark.parametrize("moment", ["fsync", "replace"])
@pytest.mark.parametrize(("name", "writes"), WRITERS, ids=[name for name, _ in WRITERS])
def test_a_file_is_the_old_one_until_the_new_one_is_whole_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, writes: Callable[[Path], object], moment: str
) -> None:
    folder = tmp_path / "event"
    save(folder, plan(), deals(), registry())
    if name == SETTING:
        write(folder, Place("postgresql://here/db"))
    for own in ("results.csv", "points.pdf", "players.csv"):
        (folder / own).write_text("old")
    before = (folder / name).read_bytes()

    def cut(*_: object) -> None:
        raise PowerCut

    with monkeypatch.context() as power:
        power.setattr(os, moment, cut)
        with pytest.raises(PowerCut):
            writes(folder)
    assert (folder / name).read_bytes() == before
    writes(folder)
    assert (folder / name).read_bytes() != before
