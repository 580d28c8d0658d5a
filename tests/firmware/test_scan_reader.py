"""Reports from bytes: codes, lines, repeats."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.presses import MS
from firmware.reports import NotScanned, Scanned
from firmware.scan_reader import (
    CUT_NS,
    LINE_QUIET_NS,
    LONGEST_LINE,
    SHOWN_CHARACTERS,
    CodeProblem,
    CodeSettings,
    LineCutter,
    PlainNumbers,
    ReaderSettings,
    ReadLine,
    ScannedTile,
    ScanReader,
    parse_tile_code,
)
from vision.marks.label_code import Payload, parse_payload, payload_text

ANY = CodeSettings()

SETS = st.integers(0, 99)
SERIALS = st.integers(1, 136)
FORMS = ("HM1-{set:02d}-{tile:03d}", "HM{set:02d}{tile:03d}", "{set:02d}{tile:03d}")


@given(SETS, SERIALS, st.sampled_from(FORMS), st.sampled_from(["", "]d1", "]C0", "]A0", "]Q3"]))
def test_every_form_of_a_label_is_read_with_or_without_aim_identifier(
    number: int, tile: int, form: str, aim: str
) -> None:
    assert parse_tile_code(aim + form.format(set=number, tile=tile), ANY) == ScannedTile(
        tile, f"{number:02d}", sure=form.startswith("HM")
    )


@given(SETS, SERIALS)
def test_printed_labels_are_read_as_the_camera_reads_them(number: int, tile: int) -> None:
    text = payload_text(Payload(number, tile))
    assert (parse_tile_code(text, ANY), parse_payload(text)) == (
        ScannedTile(tile, f"{number:02d}", sure=True),
        Payload(number, tile),
    )


@given(
    st.text(alphabet="HM1-0678]dC", max_size=10) | st.text(max_size=10) | st.from_regex(r"(HM1?-?)?[0-9]{2}-?[0-9]{3}")
)
def test_scanner_and_camera_accept_the_same_codes_with_a_numbered_set(text: str) -> None:
    tile = parse_tile_code(text, ANY)
    here = (tile.set_text, tile.serial) if isinstance(tile, ScannedTile) and (tile.set_text or "").isdigit() else None
    bare = text.strip(" ")
    camera = parse_payload(bare[3:] if bare[:1] == "]" and bare[1:3].isalnum() and bare[1:2].isalpha() else bare)
    assert here == (camera and (camera.set_text, camera.serial))


@given(st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), SERIALS)
def test_a_letter_and_three_digits_are_set_and_serial(letter: str, tile: int) -> None:
    assert parse_tile_code(f"{letter}{tile:03d}", ANY) == ScannedTile(tile, letter, sure=False)


@pytest.mark.parametrize("text", ["7", "07", "007", " 007", "]C0007 "])
def test_a_plain_number_is_a_serial_without_a_set(text: str) -> None:
    assert parse_tile_code(text, ANY) == ScannedTile(7, None, sure=False)


@pytest.mark.parametrize("text", ["0", "000", "137", "999", "08000", "08137", "HM1-08-000", "HM08137", "C000", "C137"])
def test_a_serial_outside_1_to_136_is_refused(text: str) -> None:
    assert parse_tile_code(text, ANY) == CodeProblem("scan_no_such_tile", text, sure=text.startswith("HM"))


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
def test_other_codes_are_not_tile_codes(text: str) -> None:
    assert parse_tile_code(text, ANY) is None


@pytest.mark.parametrize(
    ("plain", "counting"),
    [("any", ["7", "07", "007"]), ("three", ["007"]), ("no", [])],
)
def test_accepted_plain_numbers_are_configurable(plain: PlainNumbers, counting: list[str]) -> None:
    settings = CodeSettings(plain=plain)
    for text in ("7", "07", "007"):
        expected = ScannedTile(7, None, sure=False) if text in counting else CodeProblem("scan_without_set", text)
        assert parse_tile_code(text, settings) == expected


def test_a_configured_prefix_and_suffix_are_required() -> None:
    settings = CodeSettings(prefix="T[", suffix="]")
    assert [parse_tile_code(text, settings) for text in ("T[]C0117]", "T[117", "117]", "117", "T[]")] == [
        ScannedTile(117, None, sure=False),
        None,
        None,
        None,
        None,
    ]


def test_a_prefix_and_suffix_may_be_spaces() -> None:
    assert parse_tile_code(" 117 ", CodeSettings(prefix=" ", suffix=" ")) == ScannedTile(117, None, sure=False)
    assert parse_tile_code("117", CodeSettings(prefix=" ")) is None


def test_only_codes_that_noise_cannot_produce_are_sure() -> None:
    read = [parse_tile_code(text, ANY) for text in ("HM1-08-117", "C117", "117", "HM1-09-137")]
    assert read == [
        ScannedTile(117, "08", sure=True),
        ScannedTile(117, "C", sure=False),
        ScannedTile(117, None, sure=False),
        CodeProblem("scan_no_such_tile", "HM1-09-137", sure=True),
    ]


NOW = 1_000_000_000_000


def lines_of(*pieces: bytes) -> list[ReadLine]:
    cutter = LineCutter(received_at=NOW)
    return [line for piece in pieces for line in cutter.take(piece, NOW)]


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n", b"\t", b"\x03", b"\x03\r\n"])
@pytest.mark.parametrize("start", [b"", b"\x02"])
def test_every_common_terminator_ends_a_line_once(start: bytes, end: bytes) -> None:
    lines = lines_of(start + b"117" + end + start + b"118" + end)
    assert [line for line in lines if line.content] == [
        ReadLine(b"117", "whole"),
        ReadLine(b"118", "whole"),
    ]


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_lines_do_not_depend_on_how_the_bytes_are_chunked(content: bytes, cuts: list[int]) -> None:
    at = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    pieces = [content[start:end] for start, end in pairwise(at)]
    assert lines_of(*pieces) == lines_of(content)


@given(st.binary(max_size=1000))
def test_buffer_and_lines_are_bounded(content: bytes) -> None:
    cutter = LineCutter(received_at=NOW)
    lines = list(cutter.take(content, NOW))
    assert [line for line in lines if len(line.content) > LONGEST_LINE] == []
    assert len(cutter._partial) <= LONGEST_LINE


def test_a_line_breaks_off_after_a_pause_and_not_before() -> None:
    cutter = LineCutter(received_at=NOW)
    assert list(cutter.take(b"HM1-08", NOW)) == []
    assert list(cutter.take(b"", NOW + CUT_NS - 1)) == []
    assert list(cutter.take(b"", NOW + CUT_NS)) == [ReadLine(b"HM1-08", "cut")]
    assert list(cutter.take(b"-117\r", NOW + CUT_NS)) == [ReadLine(b"-117", "whole")]


def test_a_slow_line_without_long_pauses_is_one_line() -> None:
    cutter = LineCutter(received_at=NOW)
    told = [
        line for at, byte in enumerate(b"HM1-08-117\r") for line in cutter.take(bytes([byte]), NOW + at * (CUT_NS - 1))
    ]
    assert told == [ReadLine(b"HM1-08-117", "whole")]


def test_bytes_after_a_pause_start_a_new_line_without_an_idle_call() -> None:
    cutter = LineCutter(received_at=NOW)
    assert list(cutter.take(b"HM1-08", NOW)) == []
    assert list(cutter.take(b"117\r", NOW + CUT_NS)) == [ReadLine(b"HM1-08", "cut"), ReadLine(b"117", "whole")]


def test_an_overlong_line_is_returned_once_and_the_next_is_read() -> None:
    assert lines_of(b"x" * 500, b"y" * 500, b"\r117\r") == [
        ReadLine(b"x" * LONGEST_LINE, "long"),
        ReadLine(b"117", "whole"),
    ]


def test_a_line_of_the_greatest_length_is_returned_whole() -> None:
    assert lines_of(b"x" * LONGEST_LINE + b"\r") == [ReadLine(b"x" * LONGEST_LINE, "whole")]


def test_an_overlong_line_that_pauses_has_broken_off() -> None:
    cutter = LineCutter(received_at=NOW)
    told = [*cutter.take(b"x" * 100, NOW), *cutter.take(b"17\r", NOW + CUT_NS)]
    assert told == [ReadLine(b"x" * LONGEST_LINE, "long"), ReadLine(b"", "cut"), ReadLine(b"17", "whole")]


def test_zero_bytes_alone_are_not_a_broken_line() -> None:
    cutter = LineCutter(received_at=NOW)
    assert [*cutter.take(b"\0", NOW), *cutter.take(b"", NOW + CUT_NS)] == []


START = 5_000_000_000_000


class Told:
    """A reader and a clock that the test controls; reports are returned in short form."""

    def __init__(self, reader: ScanReader | None = None) -> None:
        self.reader, self.now = reader or ScanReader(), START
        self.reader.opened(self.now)
        self.wait_ms(1000)

    def wait_ms(self, ms: int) -> list[tuple[object, ...]]:
        """Let time pass."""
        self.now += ms * MS
        return self.send(b"")

    def send(self, content: bytes) -> list[tuple[object, ...]]:
        """Receive bytes."""
        return [short(report, self.now) for report in self.reader.take(content, self.now)]


def short(report: Scanned | NotScanned, now: int) -> tuple[object, ...]:
    assert report.at == now
    return (report.serial, report.set_text) if isinstance(report, Scanned) else (report.code, report.text)


@pytest.fixture
def told() -> Told:
    return Told()


def test_a_tile_has_the_time_at_which_its_line_ended(told: Told) -> None:
    assert told.send(b"HM1-08-1") == []
    told.now += 20 * MS
    assert told.send(b"17\r\n") == [(117, "08")]


def test_a_repeated_code_is_one_scan_until_it_was_absent_for_a_second(told: Told) -> None:
    assert told.send(b"117\r117\r") == [(117, None)]
    for _ in range(5):
        assert [*told.wait_ms(999), *told.send(b"117\r")] == []
    assert [*told.wait_ms(1000), *told.send(b"117\r")] == [(117, None)]


def test_another_code_in_between_makes_two_scans(told: Told) -> None:
    assert told.send(b"117\r118\r117\r") == [(117, None), (118, None), (117, None)]


def test_a_refused_code_in_between_makes_no_second_scan(told: Told) -> None:
    assert told.send(b"117\r999\r117\r999\r") == [(117, None), ("scan_no_such_tile", "999")]


def test_the_same_serial_of_another_set_is_another_code(told: Told) -> None:
    assert told.send(b"HM1-08-117\rHM1-09-117\r") == [(117, "08"), (117, "09")]


@pytest.mark.parametrize(("double_ms", "scans"), [(0, 2), (1, 1)])
def test_the_time_of_one_scan_is_configurable(double_ms: int, scans: int) -> None:
    told = Told(ScanReader(ReaderSettings(double_ms=double_ms)))
    assert told.send(b"117\r117\r") == [(117, None)] * scans


def test_a_repeated_refused_code_is_reported_once(told: Told) -> None:
    assert told.send(b"999\r999\r") == [("scan_no_such_tile", "999")]
    assert [*told.wait_ms(500), *told.send(b"999\r")] == []


def test_a_broken_line_is_reported_with_its_content(told: Told) -> None:
    told.send(b"HM1-08-1")
    assert told.wait_ms(CUT_NS // MS) == [("scan_cut", "HM1-08-1")]


def test_the_rest_of_a_broken_line_is_not_a_plain_number(told: Told) -> None:
    told.send(b"HM1-08-1")
    told.wait_ms(600)
    assert told.send(b"17\r") == [("scan_cut", "17")]
    assert [*told.wait_ms(200), *told.send(b"17\r")] == [(17, None)]


def test_a_late_terminator_is_ignored(told: Told) -> None:
    told.send(b"117")
    told.wait_ms(600)
    assert told.send(b"\r\n") == []
    assert [*told.wait_ms(200), *told.send(b"118\r\n")] == [(118, None)]


def test_a_label_after_a_broken_line_is_read(told: Told) -> None:
    told.send(b"HM1-08-1")
    told.wait_ms(600)
    assert told.send(b"HM1-08-118\r") == [(118, "08")]


def test_a_scan_during_which_the_line_was_opened_is_not_a_plain_number() -> None:
    told = Told()
    told.reader.opened(told.now)
    assert told.send(b"17\r") == [("scan_cut", "17")]
    assert [*told.wait_ms(LINE_QUIET_NS // MS), *told.send(b"17\r")] == [(17, None)]


def test_losing_the_line_during_a_scan_breaks_it_off(told: Told) -> None:
    told.send(b"HM1-08-1")
    assert [short(report, told.now) for report in told.reader.lost(told.now)] == [("scan_cut", "HM1-08-1")]
    assert told.reader.lost(told.now) == []


def test_after_noise_only_labels_count_until_the_line_is_quiet(told: Told) -> None:
    noise = b"\xff\x80\r"
    assert told.send(noise + b"7\r117\rC117\r08117\rHM1-08-117\rHM08118\r") == [
        ("scan_garbled", "\\xff\\x80"),
        (117, "08"),
        (118, "08"),
    ]
    told.wait_ms(LINE_QUIET_NS // MS - 1)
    assert told.send(b"7\r") == []
    assert [*told.wait_ms(LINE_QUIET_NS // MS), *told.send(b"7\r")] == [(7, None)]


def test_a_refused_code_is_not_noise(told: Told) -> None:
    assert told.send(b"HM1-09-137\r999\r117\r") == [
        ("scan_no_such_tile", "HM1-09-137"),
        ("scan_no_such_tile", "999"),
        (117, None),
    ]


def test_a_flood_causes_one_report(told: Told) -> None:
    assert told.send(b"\xfe\r" * 10_000 + b"x" * 10_000) == [("scan_garbled", "\\xfe")]


def test_an_overlong_line_is_reported_by_its_beginning(told: Told) -> None:
    assert told.send(b"https://" + b"x" * 300 + b"\r") == [("scan_too_long", "https://" + "x" * (SHOWN_CHARACTERS - 8))]


def test_an_unknown_code_is_reported_unchanged(told: Told) -> None:
    assert told.send(b"9782070360024\r") == [("scan_unknown", "9782070360024")]


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-16"])
@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\t"])
def test_utf_16_is_recognised_and_nothing_else_reported(told: Told, codec: str, end: str) -> None:
    assert told.send(f"HM1-08-117{end}".encode(codec)) + told.wait_ms(1000) == [
        ("scan_wrong_encoding", "UTF-16: HM1-08-117")
    ]


def test_a_big_endian_byte_order_mark_is_recognised(told: Told) -> None:
    assert told.send(b"\xfe\xff" + "HM1-08-117\r".encode("utf-16-be")) == [
        ("scan_wrong_encoding", "UTF-16: HM1-08-117")
    ]


def test_one_or_two_digits_do_not_prove_a_wrong_setting(told: Told) -> None:
    assert told.send(b"&\r") == [("scan_unknown", "&")]


def test_a_code_without_a_terminator_is_reported_as_broken_off(told: Told) -> None:
    told.send(b"\x02117")
    assert told.wait_ms(600) == [("scan_cut", "117")]


def test_a_utf_8_byte_order_mark_is_recognised(told: Told) -> None:
    assert told.send("\ufeffHM1-08-117\r".encode()) == [
        ("scan_wrong_encoding", "UTF-8 with a byte order mark: HM1-08-117")
    ]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_ebcdic_is_recognised_and_nothing_else_reported(told: Told, end: str) -> None:
    assert told.send(f"HM1-08-117{end}".encode("cp037")) + told.wait_ms(1000) == [
        ("scan_wrong_encoding", "EBCDIC: HM1-08-117")
    ]


@pytest.mark.parametrize("odd", [0, 1])
@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n"])
def test_seven_bits_with_parity_are_recognised_and_nothing_else_reported(told: Told, odd: int, end: bytes) -> None:
    sent = bytes(byte | 0x80 * ((byte.bit_count() + odd) % 2) for byte in b"HM1-08-117" + end)
    assert told.send(sent) + told.wait_ms(1000) == [("scan_wrong_parity", "7 bits and parity: HM1-08-117")]


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("H?&)à_)&&è", "typed for us, read as fr: HM1-08-117"),
        ("&&è", "typed for us, read as fr: 117"),
        ("H:!6)*6!!&", "typed for fr, read as us: HM1-08-117"),
        ("!!&", "typed for fr, read as us: 117"),
        ("hm1-08-117", "capitals and small letters exchanged: HM1-08-117"),
        ("c117", "capitals and small letters exchanged: C117"),
    ],
)
def test_a_wrong_keyboard_layout_is_recognised(told: Told, typed: str, why: str) -> None:
    assert told.send(typed.encode("latin-1") + b"\r") == [("scan_wrong_layout", why)]


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"HM1-08-117\r", b"\x02117\x03"]), max_size=20), st.data())
def test_any_bytes_give_valid_and_short_reports(pieces: list[bytes], data: st.DataObject) -> None:
    told = Told(ScanReader(ReaderSettings(CodeSettings(plain="three"))))
    reports = [report for piece in pieces for report in told.send(piece) + told.wait_ms(data.draw(st.integers(0, 700)))]
    assert [report for report in reports if isinstance(report[0], int) and not 1 <= report[0] <= 136] == []
    assert [report for report in reports if isinstance(report[0], str) and len(str(report[1])) > 100] == []
