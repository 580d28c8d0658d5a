import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.payload import Payload, module_count, parse_payload, payload_text


@pytest.mark.parametrize("text", ["HM1-08-117", "HM08117", "08117"])
def test_every_format_names_the_same_tile(text: str) -> None:
    assert parse_payload(text) == Payload(set=8, serial=117)


@pytest.mark.parametrize("serial", [1, 136])
def test_the_first_and_the_last_serial_are_tiles(serial: int) -> None:
    assert parse_payload(f"HM1-00-{serial:03d}") == Payload(0, serial)


@pytest.mark.parametrize(
    "text",
    [
        "", "117", "08000", "08137", "HM08137", "HM1-08-000", "hm08117", "HM1-8-117", "HM2-08-117", "HM1-08-117 ",
        " 08117", "08117\n", "HM1-08-1170", "0811", "٠٨١١٧", "BOARD 07", "https://example.org", "HM1_08_117",
    ],
)  # fmt: skip
def test_anything_else_is_no_tile(text: str) -> None:
    assert parse_payload(text) is None


@given(st.text(max_size=12))
def test_rubbish_is_refused_and_never_raises(text: str) -> None:
    payload = parse_payload(text)
    assert payload is None or 1 <= payload.serial <= 136


@given(st.integers(0, 99), st.integers(1, 136))
def test_what_is_printed_is_what_is_read(number: int, serial: int) -> None:
    assert parse_payload(payload_text(Payload(number, serial))) == Payload(number, serial)


@pytest.mark.parametrize(("text", "modules"), [("HM1-08-117", 14), ("HM08117", 12), ("08117", 10)])
def test_the_length_of_the_text_tells_the_size_of_the_label(text: str, modules: int) -> None:
    assert module_count(text) == modules
