"""A table checks readings against photographs of the set in play, if it has them."""

import logging
from pathlib import Path

import pytest

from kiosk.camera.loop import load_enrolled_set
from tests.vision.enrolled.drawn_sets import drawn_set
from vision.enrolled.file import write_enrolled


def test_the_photographs_are_those_of_the_set_in_play(tmp_path: Path) -> None:
    write_enrolled(tmp_path / "set-03.jpg", drawn_set())
    own = load_enrolled_set(tmp_path, 3)
    assert own is not None
    assert (own.number, own.missing) == (3, ())
    assert load_enrolled_set(tmp_path, 4) is None


def test_a_table_without_photographs_reads_without_them() -> None:
    assert load_enrolled_set(None, 3) is None


@pytest.mark.parametrize("content", [b"rubbish", b""])
def test_a_damaged_file_is_not_used_and_is_logged(
    content: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "set-03.jpg").write_bytes(content)
    with caplog.at_level(logging.WARNING, "homologue.camera"):
        assert load_enrolled_set(tmp_path, 3) is None
    assert "set_pictures_unused" in caplog.text
