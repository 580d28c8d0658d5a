"""A table's slots: versions are unpacked, tried, and kept or abandoned. After any cut, a complete one starts."""

import random
from pathlib import Path
from typing import Final

from broker.upgrade.bundle import SignedManifest, import_bundle
from broker.upgrade.slots import SlotFolder, own_target
from broker.upgrade.start import MOST_STARTS, bundle_in, choose_slot
from tests.broker.upgrade.packages import KEY, bundle_of
from tests.power.subject import Cut, Outcome, Subject, Tell, digest

STEPS: Final = 5
BASE: Final = "0.2.0"


def write(disk: Path, seed: int, tell: Tell) -> None:
    """Install versions; each confirms itself, gives itself up, or is abandoned after too many starts."""
    chance, slots = random.Random(seed), SlotFolder(disk / "upgrade", BASE)
    slots.folder.mkdir(exist_ok=True)
    bundles = disk.parent / "bundles"
    tell("starts", content="")
    for step in range(STEPS):
        debs, signed = _bundle(bundles / str(step), f"0.3.{step}")
        tell("brought", bundle=signed.hash)
        slots.unpack(debs, signed.hash, f"0.3.{step}", lambda: None)
        tell("unpacked", bundle=signed.hash, content=content(slots.folder / str(slots.slot_with(signed.hash))))
        slots.switch(signed.hash)
        for _ in range(chance.randrange(MOST_STARTS + 2)):
            choose_slot(slots.folder, BASE)
        chance.choice((slots.confirm, slots.give_up, slots.confirm))()


def _bundle(folder: Path, version: str) -> tuple[list[Path], SignedManifest]:
    folder.mkdir(parents=True)
    bundle, manifest = bundle_of(folder, version)
    signed = import_bundle(bundle, folder / "taken", {KEY.public})
    return [folder / "taken" / f"{part.sha256}.deb" for part in manifest.for_table(own_target())], signed


def content(slot: Path) -> str:
    """Return a hash of a slot's content, except links and interpreters."""
    files = sorted(path for path in slot.rglob("*") if path.is_file() and not path.name.startswith("python"))
    return digest([[str(path.relative_to(slot)), digest(path.read_bytes())] for path in files])


def check(cut: Cut, outcome: Outcome) -> None:
    """Start repeatedly as the unit does: apt's version or a complete one, and no version may stay on trial for ever."""
    folder = cut.disk / "upgrade"
    whole = {one["bundle"]: one["content"] for one in cut.all("unpacked")}
    for _ in range(MOST_STARTS + 2):
        chosen = choose_slot(folder, BASE)
        if chosen is not None and cut.lie == "none":
            bundle = bundle_in(chosen)
            outcome.must(whole.get(bundle) == content(chosen), f"what starts is not whole: {bundle[:8]}")
    outcome.must(not SlotFolder(folder, BASE).choice.trial, "a version is on trial for ever")


UPGRADE = Subject("upgrade", write, check, kills=False)
