"""`homologue doctor table` finds each fault of a table's machine, whether or not its kiosk runs."""

import json
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from broker.checkup import Finding
from kiosk.config import KEY_FILE
from kiosk.doctor import examine_table, table_doctor
from kiosk.journal import TableJournal
from kiosk.table.events import NextDealCalled
from tests.kiosk.journals import OURS
from tests.kiosk.standing import CONFIG


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "password").write_text("a-password-of-a-table")
    (tmp_path / "password").chmod(0o600)
    path = tmp_path / "table.toml"
    path.write_text(CONFIG)
    return path


def found(config: Path) -> dict[str, Finding]:
    return {one.code: one for one in examine_table(config, config.parent)[0].findings if one.must}


def test_an_unreachable_broker_is_found_and_nothing_else(config: Path) -> None:
    assert found(config).keys() == {"broker_unreached"}


def test_a_journal_that_a_kiosk_has_open_is_read_and_left_unchanged(config: Path) -> None:
    with closing(TableJournal(config.parent / "table.sqlite", OURS)) as journal:
        before = journal.waiting()
        assert found(config).keys() == {"broker_unreached"}
        assert journal.waiting() == before


def test_a_damaged_journal_is_found(config: Path) -> None:
    with closing(TableJournal(config.parent / "table.sqlite", OURS)):
        pass
    path = config.parent / "table.sqlite"
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 4_000 + path.read_bytes()[4_100:])
    assert found(config).keys() & {"journal_damaged", "journal_unread"}


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("table = ", "tables = ", "bad_configuration"),
        ('"sim://buttons"', '"gpio:east=99/98"', ""),
        ('"sim://tray"', '"v4l2:/dev/video99"', "device_missing"),
    ],
)
def test_an_invalid_setting_is_found_with_what_to_do(config: Path, before: str, after: str, code: str) -> None:
    assert before in CONFIG
    config.write_text(CONFIG.replace(before, after))
    others = found(config).keys() - {"broker_unreached"}
    assert others == {code} if code else others


def test_an_unpaired_device_is_reported(config: Path) -> None:
    config.write_text('paired = "pairing"\n[devices]\nbuttons = "sim://buttons"\ncamera = "sim://tray"\n')
    assert found(config).keys() == {"not_paired"}


def test_a_missing_part_of_the_program_is_found(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiosk.doctor.REQUIRED_PACKAGES", ("json", "no_such_part"))
    assert "no_such_part" in found(config)["program_incomplete"].what


def test_a_bundle_contains_no_secret_of_the_table(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(TableJournal(config.parent / "table.sqlite", OURS)) as journal:
        journal.record(NextDealCalled(at=1), (), wall=1)
    key = [line for line in (config.parent / KEY_FILE).read_text().splitlines() if "-----" not in line]
    secrets = [*key, "a-password-of-a-table"]
    assert all(secrets)
    monkeypatch.setattr("broker.checkup.journal_of_units", lambda: "\n".join(secrets))
    bundle = tmp_path / "bundle.zip"
    answer = CliRunner().invoke(table_doctor, [str(config), "--json", "--bundle", str(bundle)])
    assert answer.exit_code == 1
    assert json.loads(answer.output)["looked"][0] == "programs"
    with zipfile.ZipFile(bundle) as packed:
        texts = {name: packed.read(name).decode() for name in packed.namelist()}
    assert "sim://buttons" in texts["table.toml"]
    assert [word for word in secrets if word in "\n".join(texts.values())] == []
