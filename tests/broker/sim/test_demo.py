"""The demo spoils nothing: it plays in a folder of its own."""

from pathlib import Path

from click.testing import CliRunner

from broker.cli.main import homologue


def test_a_folder_that_holds_anything_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "event.toml").write_text("an organiser's work", encoding="utf-8")
    ended = CliRunner().invoke(homologue, ["demo", "--once", "--folder", str(tmp_path)])
    assert ended.exit_code == 1
    assert "demo_folder_taken" in ended.output
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [
        ("event.toml", "an organiser's work")
    ]
