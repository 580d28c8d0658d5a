"""The files for a table's Pi that `homologue install` installs, as systemd and udev read them."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from broker.cli.install import CONSOLES, FILES, LOCKED
from broker.cli.main import homologue
from tests.systemd.units import ROOT, analyze

PROGRAMS: Final = {
    "homologue-logind.conf": "systemd-logind",
    "homologue-manager.conf": "systemd",
    "homologue-journald.conf": "systemd-journald",
    "homologue-watchdog.conf": "systemd",
}
"""The program of systemd that reads each file."""


def text(name: str) -> str:
    return (ROOT / "systemd" / name).read_text(encoding="utf-8")


def settings(name: str) -> dict[str, dict[str, str]]:
    """Read a file as systemd reads it."""
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd distinguishes case
    parser.read_string(text(name))
    return {section: dict(parser[section]) for section in parser.sections()}


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return the root of a table installed with `--locked`."""
    done = CliRunner().invoke(homologue, ["install", "table", "--locked", "--root", str(tmp_path)])
    assert done.exit_code == 0, done.output
    return tmp_path


def test_every_file_is_installed() -> None:
    laid = {name for files in (*FILES.values(), LOCKED) for name in files} | {"table.toml", "README.md"}
    assert {path.name for path in (ROOT / "systemd").iterdir()} == laid


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("homologue-sysctl.conf", "sysctl.d/90-homologue.conf"),
        ("homologue-logind.conf", "systemd/logind.conf"),
        ("homologue-manager.conf", "systemd/system.conf"),
        ("homologue-journald.conf", "systemd/journald.conf"),
        ("homologue-watchdog.conf", "systemd/system.conf"),
    ],
)
def test_systemd_reads_the_installed_files(installed: Path, name: str, asked: str) -> None:
    read = analyze("cat-config", f"--root={installed}", "--no-pager", asked)
    assert (read.returncode, text(name) in read.stdout) == (0, True), read.stderr


@pytest.mark.parametrize(("name", "program"), PROGRAMS.items())
def test_systemd_knows_each_setting(name: str, program: str) -> None:
    """A misspelt setting would be ignored, with only a line in the log of the Pi."""
    folder = next(path for path in map(Path, ("/usr/lib/systemd", "/lib/systemd")) if (path / program).exists())
    known = b"".join(path.read_bytes() for path in (folder / program, *folder.glob("libsystemd-*.so")))
    for section, values in settings(name).items():
        assert [key for key in values if not found_in(known, section, key)] == []


def found_in(program: bytes, section: str, key: str) -> set[str]:
    """Return the names under which a program contains a setting: with its section, or alone."""
    return {name for name in (f"\0{section}.{key}\0", f"\0{key}\0") if name.encode() in program}


def test_no_console_has_a_login_and_no_key_has_an_effect() -> None:
    login = settings("homologue-logind.conf")["Login"]
    assert (login.pop("NAutoVTs"), login.pop("ReserveVT")) == ("0", "0")
    assert set(login.values()) == {"ignore"}
    assert {
        f"Handle{key}Key{long}" for key in ("Power", "Reboot", "Suspend", "Hibernate") for long in ("", "LongPress")
    } == {*login}
    assert settings("homologue-manager.conf")["Manager"]["CtrlAltDelBurstAction"] == "none"


def test_the_kernel_ignores_magic_keys() -> None:
    lines = [line for line in text("homologue-sysctl.conf").splitlines() if not line.startswith("#")]
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    assert values == {
        "kernel.sysrq": "0",
        "kernel.printk": "1 4 1 7",
        "fs.suid_dumpable": "0",
        "kernel.core_pattern": "|/bin/false",
    }


def test_masked_units_exist_and_are_masked(installed: Path) -> None:
    assert [unit for unit in CONSOLES if not (Path("/usr/lib/systemd/system") / unit).exists()] == []
    for unit in CONSOLES:
        assert (installed / "etc/systemd/system" / unit).readlink() == Path("/dev/null")


UDEV_LINE: Final = re.compile(r'(?:[A-Z]+(?:\{[^}"]+\})?(?:==|!=|\+=|:=|=)"[^"]*"(?:, |$))+')


@pytest.mark.parametrize("path", sorted((ROOT / "systemd").glob("*.rules")), ids=lambda path: path.name)
def test_udev_can_read_each_rule(path: Path) -> None:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    assert lines != []
    assert [line for line in lines if not UDEV_LINE.fullmatch(line)] == []
    program = shutil.which("udevadm")
    if program and subprocess.run([program, "verify", "--help"], capture_output=True, check=False).returncode == 0:
        verified = subprocess.run([program, "verify", str(path)], capture_output=True, text=True, check=False)
        assert verified.returncode == 0, verified.stderr
