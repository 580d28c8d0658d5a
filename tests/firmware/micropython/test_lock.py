"""MicroPython for the tests is pinned like everything else."""

import json

from tests.firmware.micropython.process import HERE


def test_the_lock_file_pins_by_hash_and_names_no_registry() -> None:
    text = (HERE / "package-lock.json").read_text(encoding="utf-8")
    pinned = {name: entry for name, entry in json.loads(text)["packages"].items() if name}
    assert [name for name, entry in pinned.items() if not entry["integrity"].startswith("sha512-")] == []
    assert [*pinned] == ["node_modules/@micropython/micropython-webassembly-pyscript"]
    assert "://" not in text
