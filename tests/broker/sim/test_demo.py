"""The demo plays in its own folder and overwrites nothing."""

import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.sim.demo import Demo


def test_a_folder_that_is_not_empty_is_left_unchanged(tmp_path: Path) -> None:
    (tmp_path / "event.toml").write_text("an organiser's work", encoding="utf-8")
    ended = CliRunner().invoke(homologue, ["demo", "--once", "--folder", str(tmp_path)])
    assert ended.exit_code == 1
    assert "demo_folder_taken" in ended.output
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [
        ("event.toml", "an organiser's work")
    ]


def test_a_desk_that_answers_late_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    over: dict[str, object] = {"plays_in": 0, "plays_expected": 0, "tables": [], "standings": []}
    late = [TimeoutError()]

    def view() -> dict[str, object]:
        if late:
            raise late.pop()
        return over

    demo = Demo(tmp_path, "embedded", 1, threading.Event())
    monkeypatch.setattr(demo, "view", view)
    assert demo._follow(0) == over
