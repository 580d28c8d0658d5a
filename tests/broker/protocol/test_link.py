"""Session ids: the same at each start, and secret."""

from pathlib import Path

import pytest

from broker.protocol.link import SESSION_FILE, session_id, transient_session_id


def test_a_session_id_is_stable_unique_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    ids = {session_id("homologue-cup-scorer", folder) for folder in folders for _ in range(3)}
    assert {len(one) for one in ids} == {len("homologue-cup-scorer-") + 32}  # 128 bits in hex
    assert len(ids) == 2
    assert {(folder / SESSION_FILE).stat().st_mode & 0o777 for folder in folders} == {0o600}


def test_a_transient_session_id_is_valid_and_unique() -> None:
    assert set(transient_session_id("homologue-cup-2026-asks")) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len({transient_session_id("x") for _ in range(100)}) == 100


@pytest.mark.parametrize("damage", ["exposed", "empty", "rubbish"])
def test_an_exposed_or_invalid_secret_is_replaced(tmp_path: Path, damage: str) -> None:
    first = session_id("x", tmp_path)
    file = tmp_path / SESSION_FILE
    if damage == "exposed":
        file.chmod(0o644)
    else:
        file.write_bytes({"empty": b"", "rubbish": b"\xff../.."}[damage])
    second = session_id("x", tmp_path)
    assert first != second == session_id("x", tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_session_id_is_returned_even_if_it_cannot_be_stored(tmp_path: Path) -> None:
    assert session_id("x", tmp_path / "there is no such folder").startswith("x-")
