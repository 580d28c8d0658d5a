"""Functions on which `make deb` and `make arm64` rely."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tests.supply.parts import ROOT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModuleType:
    """Return a script of the folder `packaging`; they import each other by name."""
    monkeypatch.syspath_prepend(ROOT / "packaging")
    return import_module(request.param)


@pytest.mark.parametrize("script", ["build"], indirect=True)
def test_a_wheel_is_found_whatever_the_case_of_its_name(script: ModuleType, tmp_path: Path) -> None:
    target = script.Target("bookworm", "arm64")
    target.wheels = tmp_path
    for name in ("PyMahjongGB-1.4.0-cp311-cp311-linux_aarch64.whl", "lgpio-0.2.2.0-cp311-cp311-linux_aarch64.whl"):
        (tmp_path / name).touch()
    assert sorted(script.compiled(target)) == sorted(script.FROM_SOURCE)


@pytest.mark.parametrize("script", ["build"], indirect=True)
def test_a_package_reveals_nothing_about_the_build_machine(script: ModuleType, tmp_path: Path) -> None:
    about = tmp_path / "one-1.dist-info"
    about.mkdir()
    (tmp_path / "one.py").touch()
    (about / "direct_url.json").write_text('{"url": "file:///home/me/one.whl"}', encoding="utf-8")
    (about / "uv_cache.json").touch()
    kept = ["one.py,sha256=47DEQpj8,0\n", "one-1.dist-info/RECORD,,\n"]
    gone = ["bin/one,sha256=2jmj7l5r,214\n", *(f"one-1.dist-info/{name}.json,," for name in ("direct_url", "uv_cache"))]
    (about / "RECORD").write_text("".join([gone[0], *kept, *gone[1:]]), encoding="utf-8")
    script.clean_records(tmp_path)
    assert [path.name for path in about.iterdir()] == ["RECORD"]
    assert (about / "RECORD").read_text(encoding="utf-8") == "".join(kept)


@pytest.mark.parametrize("script", ["arm64"], indirect=True)
def test_the_journal_check_for_arm64_runs_on_this_machine(script: ModuleType, tmp_path: Path) -> None:
    command = [sys.executable, "-c", script.JOURNAL, tmp_path]
    assert subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout == b"True\nTrue\n"
