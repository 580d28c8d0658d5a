"""An event in the middle of its play, and a stick for its copies."""

from pathlib import Path

import pytest

from tests.broker.scorer.folders import event_folder, until_round


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    (tmp_path / "stick").mkdir()
    return tmp_path / "stick"


@pytest.fixture
def event(tmp_path: Path) -> Path:
    return event_folder(tmp_path / "event", until_round(3))
