"""Lights on the board that would tell of a press.

A Pi's green one follows its card unless told otherwise, and each press is written to the card at once.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from firmware.errors import LightTells
from firmware.hardware.inventory import Trouble

LIGHTS: Final = ("ACT", "PWR", "led0", "led1")
"""The board's own, by their names in Raspberry Pi OS; older kernels number them."""

STILL: Final = ("none", "default-on", "input", "timer")
"""What follows nothing that the machine does (the kernel's `Documentation/leds`; `input` is the Pi's power supply)."""


def telling(root: Path) -> Iterator[Trouble]:
    """Name each light that shows what the machine does, with how to still it."""
    for name in LIGHTS:
        follows = _followed(root / "sys/class/leds" / name / "trigger")
        if follows is not None and follows not in STILL:
            parameter = "pwr" if name in ("PWR", "led1") else "act"
            yield Trouble(
                LightTells.code,
                f"the light {name} of the board follows {follows}, so that it can show a press: "
                f"dtparam={parameter}_led_trigger=none in /boot/firmware/config.txt, and restart",
            )


def _followed(path: Path) -> str | None:
    """Give the trigger in brackets, as the kernel marks the one that is on; None: there is no such light."""
    try:
        marked = re.search(r"\[([^\]]+)\]", path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return marked.group(1) if marked else None
