"""What is typed to pair a device, and what was found without typing. Pure."""

from typing import Final

import pytest

from broker.discovery import FoundDesk
from kiosk.pairing.form import PairingForm, new_pairing_form, press_pairing_key, with_found

CUP: Final = FoundDesk("cup", "192.168.1.5:8136")
LEAGUE: Final = FoundDesk("league", "192.168.1.6:8136")


def typed(form: PairingForm, *keys: str) -> PairingForm:
    for key in keys:
        after = press_pairing_key(form, key)
        assert isinstance(after, PairingForm)
        form = after
    return form


def test_the_only_desk_in_the_hall_is_taken() -> None:
    form = with_found(new_pairing_form(""), (CUP,))
    assert (form.step, form.address) == ("code", CUP.address)


@pytest.mark.parametrize(("number", "desk"), [("1", CUP), ("2", LEAGUE)])
def test_of_several_one_is_chosen_by_its_number(number: str, desk: FoundDesk) -> None:
    form = with_found(new_pairing_form(""), (CUP, LEAGUE))
    assert form.step == "address"
    chosen = typed(form, number, "enter")
    assert (chosen.step, chosen.address) == ("code", desk.address)


def test_an_address_can_be_typed_all_the_same() -> None:
    form = typed(with_found(new_pairing_form(""), (CUP, LEAGUE)), *"10.0.0.9", "enter")
    assert (form.step, form.address) == ("code", "10.0.0.9")


def test_what_is_being_typed_is_left_alone() -> None:
    form = with_found(typed(new_pairing_form(""), "1", "0"), (CUP,))
    assert (form.step, form.address) == ("address", "10")


def test_back_from_the_desk_that_was_found_another_can_be_typed() -> None:
    form = typed(with_found(new_pairing_form(""), (CUP,)), "back", "clear")
    assert (form.step, form.address) == ("address", "")
