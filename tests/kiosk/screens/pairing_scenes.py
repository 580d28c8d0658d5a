"""Scenes of a device that has no table yet."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from kiosk.pairing.form import PairingForm
from kiosk.pairing.session import pairing_view
from kiosk.screens import ScreenView, StatusLine

LONG_DESK: Final = "desk-of-the-championship.homologue.example.org:8136"

FORMS: Final = {
    "address": PairingForm(address="192.168.100.100:8136"),
    "no address": PairingForm(problem="address_unreadable"),
    "code": PairingForm("code", "scorer.local", "1234"),
    "refused": PairingForm("code", LONG_DESK, problem="desk_unproven"),
    "asking": PairingForm("asking", LONG_DESK),
    "done": PairingForm("paired", event="european-championship-2026-lyon", table=9999),
}


def pairing_scenes(online: StatusLine) -> dict[str, Callable[[], ScreenView]]:
    """Return the scenes by name, with this status line."""

    def of(form: PairingForm) -> Callable[[], ScreenView]:
        return lambda: replace(pairing_view(form, "14:05"), line=replace(online, unpaired=True))

    return {f"pairing, {name}": of(form) for name, form in FORMS.items()}
