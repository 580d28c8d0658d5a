"""`homologue install` on folders in place of a machine's root."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.install import CONSOLES, INSTANCE, LIGHTS
from broker.cli.main import homologue
from kiosk.config import unpaired_settings

EVERYTHING = ("--hostname", "table-3", "--scorer", "scorer.local", "--locked")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The root of a Raspberry Pi, as far as the command needs it."""
    for name, text in {
        "boot/firmware/config.txt": "[pi4]\narm_boost=1\n",
        "etc/hosts": "127.0.0.1\tlocalhost\n127.0.1.1\traspberrypi\n",
        "var/lib/homologue-kiosk/table.sqlite": "the journal",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(root: Path, role: str, *options: str) -> Result:
    done = CliRunner().invoke(homologue, ["install", role, "--root", str(root), *options])
    assert done.exit_code == 0, done.output
    return done


def content(root: Path) -> dict[str, str]:
    """Return the content of every file and the target of every link."""
    return {
        str(path.relative_to(root)): str(path.readlink()) if path.is_symlink() else path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_a_table_starts_its_kiosk_with_a_valid_configuration(root: Path) -> None:
    run(root, "table")
    assert (root / "etc/systemd/system/multi-user.target.wants" / INSTANCE).is_symlink()
    own = unpaired_settings(root / "etc/homologue/table.toml")
    assert (Path(own.paired), own.screen.driver) == (Path("/var/lib/homologue-kiosk"), "kmsdrm")
    users = (root / "etc/passwd").read_text(encoding="utf-8").splitlines()
    assert "homologue-kiosk" in [line.partition(":")[0] for line in users]


@pytest.mark.parametrize("role", ["table", "scorer"])
def test_a_second_install_changes_nothing(root: Path, role: str) -> None:
    options = EVERYTHING if role == "table" else ("--hostname", "scorer")
    run(root, role, *options)
    once = content(root)
    assert run(root, role, *options).output == "Nothing to do.\n"
    assert content(root) == once


@pytest.mark.parametrize("role", ["table", "scorer"])
def test_a_dry_run_shows_what_would_be_done_and_does_nothing(root: Path, role: str) -> None:
    before = content(root)
    shown = run(root, role, "--dry-run").output
    assert content(root) == before
    assert run(root, role).output == shown != "Nothing to do.\n"


def test_an_existing_configuration_is_kept(root: Path) -> None:
    own = root / "etc/homologue/table.toml"
    own.parent.mkdir()
    own.write_text("event = 'mine'\n", encoding="utf-8")
    run(root, "table")
    assert own.read_text(encoding="utf-8") == "event = 'mine'\n"


def test_the_boards_lights_are_turned_off_and_other_settings_stay(root: Path) -> None:
    run(root, "table")
    lines = (root / "boot/firmware/config.txt").read_text(encoding="utf-8").splitlines()
    assert lines == ["[pi4]", "arm_boost=1", "", "[all]", LIGHTS]


def test_a_machine_gets_its_host_name_and_time_server(root: Path) -> None:
    run(root, "table", *EVERYTHING)
    found = content(root)
    assert found["etc/hostname"] == "table-3\n"
    assert found["etc/hosts"] == "127.0.0.1\tlocalhost\n127.0.1.1\ttable-3\n"
    assert found["etc/chrony/conf.d/homologue.conf"] == "server scorer.local iburst prefer\n"


def test_consoles_are_masked_only_on_request(root: Path) -> None:
    run(root, "table")
    assert [unit for unit in CONSOLES if (root / "etc/systemd/system" / unit).is_symlink()] == []
    run(root, "table", "--locked")
    assert [(root / "etc/systemd/system" / unit).readlink() for unit in CONSOLES] == [Path("/dev/null")] * len(CONSOLES)


def test_uninstall_removes_what_was_installed_and_keeps_data(root: Path) -> None:
    before = content(root)
    run(root, "table", "--locked", "--scorer", "scorer.local")
    gone = CliRunner().invoke(homologue, ["uninstall", "table", "--root", str(root)])
    assert gone.exit_code == 0, gone.output
    after = content(root)
    added = {name for name in after if after[name] != before.get(name)}
    users = {"etc/passwd", "etc/group", "etc/shadow", "etc/gshadow", "etc/.pwd.lock"}
    assert added - users == {"etc/homologue/table.toml", "boot/firmware/config.txt"}
    assert after["var/lib/homologue-kiosk/table.sqlite"] == "the journal"


def test_a_second_uninstall_has_nothing_to_do(root: Path) -> None:
    run(root, "table")
    command = ["uninstall", "table", "--root", str(root)]
    first, again = CliRunner().invoke(homologue, command), CliRunner().invoke(homologue, command)
    assert (first.exit_code, again.exit_code, again.output) == (0, 0, "Nothing to do.\n")


def test_uninstalling_a_table_keeps_what_the_scorer_needs(root: Path) -> None:
    run(root, "scorer")
    alone = content(root)
    run(root, "table")
    CliRunner().invoke(homologue, ["uninstall", "table", "--root", str(root)])
    assert {name: text for name, text in content(root).items() if name.startswith("etc/systemd")} == {
        name: text for name, text in alone.items() if name.startswith("etc/systemd")
    }


def test_a_read_only_card_needs_debians_overlay(root: Path) -> None:
    refused = CliRunner().invoke(homologue, ["install", "table", "--root", str(root), "--read-only"])
    assert (refused.exit_code, "apt install overlayroot" in refused.output) == (1, True)
    (root / "etc/overlayroot.conf").write_text("", encoding="utf-8")
    run(root, "table", "--read-only")
    found = content(root)
    assert found["etc/fstab"] == "LABEL=homologue-data /var/lib/homologue-kiosk ext4 defaults,noatime 0 2\n"
    assert found["etc/overlayroot.local.conf"] == 'overlayroot="tmpfs:recurse=0"\n'
    assert run(root, "table", "--read-only").output == "Nothing to do.\n"


@pytest.mark.parametrize("options", [("table", "--hostname", "Table 3"), ("scorer", "--locked")])
def test_invalid_options_are_refused_before_anything_is_done(root: Path, options: tuple[str, ...]) -> None:
    before = content(root)
    assert CliRunner().invoke(homologue, ["install", *options, "--root", str(root)]).exit_code == 2
    assert content(root) == before
