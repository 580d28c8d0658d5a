"""`homologue install --card` on folders in place of a card. A real first start is in tests/lab/test_card.py."""

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.card import GENERATED_MARK, HOOK
from broker.cli.main import homologue


@pytest.fixture
def boot(tmp_path: Path) -> Path:
    """The files that Raspberry Pi Imager writes to a boot partition, as far as the command needs them."""
    folder = tmp_path / "bootfs"
    folder.mkdir()
    (folder / "meta-data").write_text("instance_id: rpios-image\n", encoding="utf-8")
    (folder / "user-data").write_text("#cloud-config\nhostname: raspberrypi\n", encoding="utf-8")
    return folder


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Return a folder with packages of two versions, for two architectures and two Debian releases."""
    folder = tmp_path / "deb"
    folder.mkdir()
    for version in ("0.2.0+deb13", "0.10.0+deb13", "0.10.0+deb12"):
        for role in ("common", "table", "scorer"):
            for machine in ("amd64", "arm64"):
                (folder / f"homologue-{role}_{version}_{machine}.deb").write_bytes(version.encode())
    return folder


def prepare(boot: Path, packages: Path, *options: str) -> Result:
    return CliRunner().invoke(
        homologue, ["install", "table", "--card", str(boot), "--packages", str(packages), *options]
    )


def content(boot: Path) -> dict[str, bytes]:
    return {str(path.relative_to(boot)): path.read_bytes() for path in boot.rglob("*") if path.is_file()}


def test_the_card_gets_both_packages_of_the_newest_build_for_a_pi(boot: Path, packages: Path) -> None:
    assert prepare(boot, packages).exit_code == 0
    laid = {path.name for path in (boot / "homologue").glob("*.deb")}
    assert laid == {"homologue-common_0.10.0+deb13_arm64.deb", "homologue-table_0.10.0+deb13_arm64.deb"}


def test_packages_that_ours_depend_on_are_copied_if_they_are_there(boot: Path, packages: Path) -> None:
    for name in ("libgbm1_1_arm64.deb", "fonts_1_all.deb", "libgbm1_1_amd64.deb"):
        (packages / name).write_bytes(b"package")
    prepare(boot, packages)
    laid = {path.name for path in (boot / "homologue").glob("*.deb") if not path.name.startswith("homologue-")}
    assert laid == {"libgbm1_1_arm64.deb", "fonts_1_all.deb"}


def test_the_cards_install_script_has_the_options_given_here(boot: Path, packages: Path) -> None:
    prepare(boot, packages, "--hostname", "table-3", "--scorer", "scorer.local", "--locked")
    script = boot / "homologue" / "install"
    assert "homologue install table --hostname table-3 --scorer scorer.local --locked" in script.read_text("utf-8")
    subprocess.run(["sh", "-n", str(script)], check=True)
    subprocess.run(["sh", "-n", str(boot / HOOK)], check=True)


def test_the_settings_of_raspberry_pi_imager_stay_unchanged(boot: Path, packages: Path) -> None:
    before = content(boot)
    prepare(boot, packages)
    after = content(boot)
    assert {name: after[name] for name in before} == before


def test_preparing_a_card_again_replaces_everything_of_the_last_time(boot: Path, packages: Path) -> None:
    prepare(boot, packages, "--hostname", "table-3")
    once = content(boot)
    (packages / "fonts_1_all.deb").write_bytes(b"package")
    prepare(boot, packages, "--hostname", "table-4")
    (packages / "fonts_1_all.deb").unlink()
    assert prepare(boot, packages, "--hostname", "table-3").exit_code == 0
    assert content(boot) == once


def test_a_dry_run_lists_what_it_would_copy_and_writes_nothing(boot: Path, packages: Path) -> None:
    before = content(boot)
    done = prepare(boot, packages, "--dry-run")
    assert "homologue-table_0.10.0+deb13_arm64.deb" in done.output
    assert content(boot) == before


def test_a_folder_that_is_not_a_card_is_refused(tmp_path: Path, packages: Path) -> None:
    done = prepare(tmp_path, packages)
    assert (done.exit_code, "[card_unknown]" in done.output) == (1, True)


def test_somebody_elses_first_start_script_is_not_overwritten(boot: Path, packages: Path) -> None:
    (boot / HOOK).write_text("#cloud-config\n", encoding="utf-8")
    before = content(boot)
    done = prepare(boot, packages)
    assert (done.exit_code, "[card_taken]" in done.output, content(boot)) == (1, True, before)


@pytest.mark.parametrize("gone", ["homologue-common_0.10.0+deb13_arm64.deb", "homologue-table_*+deb13_arm64.deb"])
def test_nothing_is_copied_if_a_package_is_missing(boot: Path, packages: Path, gone: str) -> None:
    for file in packages.glob(gone):
        file.unlink()
    done = prepare(boot, packages)
    assert (done.exit_code, "[packages_missing]" in done.output) == (1, True)
    assert not (boot / "homologue").exists()


def test_a_card_without_enough_space_is_refused_before_anything_is_copied(boot: Path, packages: Path) -> None:
    with (packages / "large_1_all.deb").open("wb") as file:
        file.truncate(1 << 40)  # a sparse file
    done = prepare(boot, packages)
    assert (done.exit_code, "[card_full]" in done.output) == (1, True)
    assert not (boot / "homologue").exists()


def test_every_generated_file_is_marked_as_generated(boot: Path, packages: Path) -> None:
    before = content(boot)
    prepare(boot, packages)
    ours = {name: text for name, text in content(boot).items() if name not in before and not name.endswith(".deb")}
    assert len(ours) == 3
    assert all(GENERATED_MARK.encode() in text for text in ours.values())
