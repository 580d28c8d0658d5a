"""What a code says: exactly the codes of ours, and of those exactly what is printed on the label."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.scan_codes import CodeSettings, Plain, Problem, Tile, read_code
from vision.payload import Payload, parse_payload, payload_text

ANY = CodeSettings()

SETS = st.integers(0, 99)
SERIALS = st.integers(1, 136)
FORMS = ("HM1-{set:02d}-{tile:03d}", "HM{set:02d}{tile:03d}", "{set:02d}{tile:03d}")


@given(SETS, SERIALS, st.sampled_from(FORMS), st.sampled_from(["", "]d1", "]C0", "]A0", "]Q3"]))
def test_each_form_of_a_label_says_its_set_and_serial_with_or_without_aim_identifier(
    number: int, tile: int, form: str, aim: str
) -> None:
    assert read_code(aim + form.format(set=number, tile=tile), ANY) == Tile(
        tile, f"{number:02d}", sure=form.startswith("HM")
    )


@given(SETS, SERIALS)
def test_the_labels_that_we_print_are_read_as_the_camera_reads_them(number: int, tile: int) -> None:
    text = payload_text(Payload(number, tile))
    assert (read_code(text, ANY), parse_payload(text)) == (
        Tile(tile, f"{number:02d}", sure=True),
        Payload(number, tile),
    )


@given(
    st.text(alphabet="HM1-0678]dC", max_size=10) | st.text(max_size=10) | st.from_regex(r"(HM1?-?)?[0-9]{2}-?[0-9]{3}")
)
def test_what_names_a_set_by_number_here_names_it_to_the_camera_and_the_other_way_round(text: str) -> None:
    tile = read_code(text, ANY)
    here = (tile.set_text, tile.serial) if isinstance(tile, Tile) and (tile.set_text or "").isdigit() else None
    bare = text.strip(" ")
    camera = parse_payload(bare[3:] if bare[:1] == "]" and bare[1:3].isalnum() and bare[1:2].isalpha() else bare)
    assert here == (camera and (camera.set_text, camera.serial))


@given(st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), SERIALS)
def test_a_letter_and_three_digits_say_set_and_serial(letter: str, tile: int) -> None:
    assert read_code(f"{letter}{tile:03d}", ANY) == Tile(tile, letter, sure=False)


@pytest.mark.parametrize("text", ["7", "07", "007", " 007", "]C0007 "])
def test_a_plain_number_says_a_serial_and_no_set(text: str) -> None:
    assert read_code(text, ANY) == Tile(7, None, sure=False)


@pytest.mark.parametrize("text", ["0", "000", "137", "999", "08000", "08137", "HM1-08-000", "HM08137", "C000", "C137"])
def test_a_serial_that_no_set_has_is_no_tile(text: str) -> None:
    assert read_code(text, ANY) == Problem("scan_no_such_tile", text, sure=text.startswith("HM"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "HM1-8-117",
        "HM1-08-17",
        "HM2-08-117",
        "hm1-08-117",
        "HM1-08-117 X",
        "C17",
        "c117",
        "CC117",
        "0117",
        "081170",
        "-7",
        "+7",
        "7.0",
        "１１７",
        "٧",
        "HM1-08-117\n",
        "7\n",
        "]d",
        "]d1",
        "]11117",
        "9782070360024",
    ],
)
def test_what_is_no_code_of_ours_is_nothing(text: str) -> None:
    assert read_code(text, ANY) is None


@pytest.mark.parametrize(
    ("plain", "counting"),
    [("any", ["7", "07", "007"]), ("three", ["007"]), ("no", [])],
)
def test_which_plain_numbers_count_can_be_said(plain: Plain, counting: list[str]) -> None:
    settings = CodeSettings(plain=plain)
    for text in ("7", "07", "007"):
        expected = Tile(7, None, sure=False) if text in counting else Problem("scan_without_set", text)
        assert read_code(text, settings) == expected


def test_a_prefix_and_suffix_that_are_configured_must_be_there() -> None:
    settings = CodeSettings(prefix="T[", suffix="]")
    assert [read_code(text, settings) for text in ("T[]C0117]", "T[117", "117]", "117", "T[]")] == [
        Tile(117, None, sure=False),
        None,
        None,
        None,
        None,
    ]


def test_a_prefix_and_suffix_may_be_spaces() -> None:
    assert read_code(" 117 ", CodeSettings(prefix=" ", suffix=" ")) == Tile(117, None, sure=False)
    assert read_code("117", CodeSettings(prefix=" ")) is None


def test_with_a_set_on_the_table_tiles_of_others_are_foreign_and_plain_numbers_are_not() -> None:
    read = [read_code(text, ANY, "08") for text in ("HM1-08-117", "HM1-09-117", "C117", "117", "HM1-09-137")]
    assert read == [
        Tile(117, "08", sure=True),
        Problem("scan_foreign_set", "HM1-09-117", sure=True),
        Problem("scan_foreign_set", "C117"),
        Tile(117, None, sure=False),
        Problem("scan_no_such_tile", "HM1-09-137", sure=True),
    ]
