"""Noise on a scanner's line: no failure, no growing memory, and no scans but of labels that the noise really spells.

`python -m tests.benchmarks.hands.scanner` does the same with a million bytes over a pty, and measures it.
"""

import re
import tracemalloc
from random import Random

import pytest

from firmware.ports import IDLE_S
from firmware.presses import MS
from firmware.reports import NotScanned, Scanned
from firmware.scan_reader import ScanReader
from tests.firmware.scanner_noise import ALPHABETS, noise

LABEL = re.compile(rb"(?<=[\r\n\t\x03])\x02? *(?:\][A-Za-z]\w)?HM(?:1-(\d\d)-|(\d\d))(\d{3}) *(?=[\r\n\t\x03])")
"""A line that is a label, which noise may spell by chance."""

BYTES = 100_000


def reports_of(content: bytes, chance: Random, *, longest_pause_ms: int) -> list[Scanned | NotScanned]:
    """Send the content in pieces, as a line delivers it; return the reports."""
    reader, now, at, told = ScanReader(), 0, 0, list[Scanned | NotScanned]()
    reader.opened(now)
    while at < len(content):
        size = chance.randint(1, 200)
        told += reader.take(content[at : at + size], now)
        at += size
        now += chance.randint(0, longest_pause_ms) * MS
    return told


@pytest.mark.parametrize("alphabet", sorted(ALPHABETS))
def test_noise_scans_only_labels_that_it_really_spells(alphabet: str) -> None:
    content = noise(ALPHABETS[alphabet], BYTES, Random(5))
    reports = reports_of(content, Random(6), longest_pause_ms=99)
    spelt = {(int(tile), (dashed or plain).decode()) for dashed, plain, tile in LABEL.findall(content)}
    assert [r for r in reports if isinstance(r, Scanned) and (r.serial, r.set_text) not in spelt] == []
    assert len([r for r in reports if isinstance(r, NotScanned) and r.code != "scan_no_such_tile"]) == 1


@pytest.mark.parametrize("alphabet", sorted(ALPHABETS))
def test_noise_with_pauses_gives_only_valid_reports(alphabet: str) -> None:
    chance = Random(7)
    content = noise(ALPHABETS[alphabet], BYTES, chance)
    reports = reports_of(content, chance, longest_pause_ms=2 * round(IDLE_S * 1000))
    assert {type(report) for report in reports} <= {Scanned, NotScanned}
    assert [report for report in reports if isinstance(report, Scanned) and not 1 <= report.serial <= 136] == []


def test_endless_noise_uses_no_memory() -> None:
    reader, content = ScanReader(), noise(ALPHABETS["bytes"], BYTES, Random(8))
    reader.take(content, 1)
    tracemalloc.start()
    try:
        for now in range(2, 12):
            reader.take(content.replace(b"\r", b"."), now)
        assert tracemalloc.get_traced_memory()[0] < BYTES
    finally:
        tracemalloc.stop()


def test_a_scan_after_noise_is_read() -> None:
    reader = ScanReader()
    reader.take(noise(ALPHABETS["bytes"], BYTES, Random(9)), 0)
    reader.take(b"", 600 * MS)
    reader.take(b"\r", 700 * MS)
    assert reader.take(b"117\r", 900 * MS) == [Scanned(117, None, 900 * MS)]
