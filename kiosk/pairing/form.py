"""The form for pairing a device: the desk's address and the code. Pure functions of a form and keys."""

from dataclasses import dataclass, field, replace
from typing import Final, Literal

from broker.discovery import FoundDesk
from broker.protocol import pairing

PairingStep = Literal["address", "code", "asking", "paired"]
"""What is being typed; that the desk is being asked; that the device is paired."""

LONGEST_ADDRESS: Final = 64
DIGITS: Final = frozenset("0123456789")
ADDRESS_KEYS: Final = DIGITS | frozenset("abcdefghijklmnopqrstuvwxyz.-:")


@dataclass(frozen=True, slots=True)
class PairingForm:
    """The input so far."""

    step: PairingStep = "address"
    address: str = ""
    code: str = field(default="", repr=False)
    problem: str | None = None
    """Code of the last refusal."""
    found: tuple[FoundDesk, ...] = ()
    """Desks that announce themselves on this network."""
    event: str = ""
    table: int = 0
    """The event and table that the device is now paired with."""


def new_pairing_form(address: str) -> PairingForm:
    """Return a form that asks for the code, or for the address if that is not known."""
    return PairingForm("code" if address else "address", address)


def with_found(form: PairingForm, found: tuple[FoundDesk, ...]) -> PairingForm:
    """Offer the desks that were found; a single one is chosen if nothing has been typed."""
    form = replace(form, found=found)
    if form.step == "address" and not form.address and len(found) == 1:
        return replace(form, step="code", address=found[0].address, problem=None)
    return form


def press_pairing_key(form: PairingForm, key: str) -> PairingForm | pairing.PairingOffer:
    """Handle a key; return the form, or the offer once it is complete. Other keys leave the form as it is."""
    if form.step == "address":
        return _address(form, key)
    return _code(form, key) if form.step == "code" else form


def _address(form: PairingForm, key: str) -> PairingForm:
    if key == "enter":
        chosen = int(form.address) if form.address.isdecimal() else 0
        if 1 <= chosen <= len(form.found):
            return replace(form, step="code", address=form.found[chosen - 1].address, problem=None)
        known = pairing.read_typed_pairing(form.address, "0" * pairing.DIGITS) is not None
        return replace(form, step="code", problem=None) if known else replace(form, problem="address_unreadable")
    typed = {"back": form.address[:-1], "clear": ""}.get(key)
    if typed is None and key in ADDRESS_KEYS and len(form.address) < LONGEST_ADDRESS:
        typed = form.address + key
    return form if typed is None else replace(form, address=typed, problem=None)


def _code(form: PairingForm, key: str) -> PairingForm | pairing.PairingOffer:
    if key == "enter":
        offer = pairing.read_typed_pairing(form.address, form.code)
        return offer or replace(form, problem="code_unreadable")
    if key == "back" and not form.code:
        return replace(form, step="address", problem=None)
    typed = {"back": form.code[:-1], "clear": ""}.get(key)
    if typed is None and key in DIGITS and len(form.code) < pairing.DIGITS:
        typed = form.code + key
    return form if typed is None else replace(form, code=typed, problem=None)
