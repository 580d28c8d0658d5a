"""One command trains all networks that are shipped."""

from pathlib import Path

from vision.networks import MODELS
from vision.training.__main__ import NETWORKS, commands, untrained


def test_all_shipped_networks_are_trained() -> None:
    beside = {"closeup"}  # written by the finder's training
    assert {path.stem for path in MODELS.glob("*.onnx")} == {*NETWORKS, *beside}


def test_each_network_is_written_under_its_name_by_its_own_command() -> None:
    chosen = commands(["digits", "lines"], Path("out"), quick=False)
    assert [(command[2], command[4]) for command in chosen] == [
        ("vision.training.digits_train", "out/digits.onnx"),
        ("vision.training.lines_train", "out/lines.onnx"),
    ]
    training = Path(__file__).parents[3] / "vision" / "training"
    assert [command[2] for command in chosen if not (training / f"{command[2].rpartition('.')[2]}.py").exists()] == []


def test_quick_training_draws_fewer_pictures() -> None:
    full, quick = (commands(["lines"], Path("out"), quick=few)[0][5:] for few in (False, True))
    assert full[::2] == quick[::2]
    assert [int(few) < int(many) for few, many in zip(quick[1::2], full[1::2], strict=True)] == [True, True]


def test_an_interrupted_run_continues_with_the_missing_networks(tmp_path: Path) -> None:
    names = [*NETWORKS]
    assert untrained(names, tmp_path) == names
    for written in ("lines", "finder"):
        (tmp_path / f"{written}.onnx").touch()
    assert untrained(names, tmp_path) == ["finder", "digits"], "the close-up look is not there yet"
    (tmp_path / "closeup.onnx").touch()
    assert untrained(names, tmp_path) == ["digits"]
