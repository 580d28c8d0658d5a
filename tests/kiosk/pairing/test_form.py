"""The form for pairing a device: typed input, and desks found on the network."""

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


def test_the_only_desk_found_is_chosen() -> None:
    form = with_found(new_pairing_form(""), (CUP,))
    assert (form.step, form.address) == ("code", CUP.address)


@pytest.mark.parametrize(("number", "desk"), [("1", CUP), ("2", LEAGUE)])
def test_one_of_several_desks_is_chosen_by_its_number(number: str, desk: FoundDesk) -> None:
    form = with_found(new_pairing_form(""), (CUP, LEAGUE))
    assert form.step == "address"
    chosen = typed(form, number, "enter")
    assert (chosen.step, chosen.address) == ("code", desk.address)


def test_an_address_can_be_typed_instead() -> None:
    form = typed(with_found(new_pairing_form(""), (CUP, LEAGUE)), *"10.0.0.9", "enter")
    assert (form.step, form.address) == ("code", "10.0.0.9")


def test_typed_input_is_not_replaced_by_a_found_desk() -> None:
    form = with_found(typed(new_pairing_form(""), "1", "0"), (CUP,))
    assert (form.step, form.address) == ("address", "10")


def test_back_from_a_found_desk_allows_another_address() -> None:
    form = typed(with_found(new_pairing_form(""), (CUP,)), "back", "clear")
    assert (form.step, form.address) == ("address", "")
