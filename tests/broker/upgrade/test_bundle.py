"""A bundle is verified by its signature and its packages by their hashes; anything changed is refused."""

import tarfile
from pathlib import Path

import pytest

from broker.protocol import SigningKey
from broker.store import journal as store
from broker.upgrade.bundle import (
    HALL_KEYS,
    UpgradeError,
    import_bundle,
    imported_manifest,
    make_bundle,
    own_formats,
    read_signed_manifest,
    trusted_keys,
)
from broker.upgrade.slots import own_target
from kiosk import journal_file
from tests.broker.upgrade.packages import KEY, bundle_of, formats, make_deb, make_debs

TRUSTED = {KEY.public}


def refusal(bundle: Path, folder: Path, trusted: set[str] = TRUSTED) -> str:
    with pytest.raises(UpgradeError) as caught:
        import_bundle(bundle, folder, trusted)
    return caught.value.code


def test_the_formats_file_agrees_with_the_program() -> None:
    of_journal, of_store = own_formats()
    assert (of_journal.writes, of_store.writes) == (journal_file.VERSION, str(store.VERSION))
    assert of_journal.writes in of_journal.opens
    assert of_store.writes in of_store.opens


def test_a_bundles_manifest_describes_its_packages(tmp_path: Path) -> None:
    _, manifest = bundle_of(tmp_path, "0.3.1.dev4")
    assert (manifest.version, manifest.commit) == ("0.3.1.dev4", "0123456789ab")
    assert (manifest.journal, manifest.store) == own_formats()
    parts = manifest.for_table(own_target())
    assert [part.package for part in parts] == ["homologue-common", "homologue-table"]
    assert all(part.unpacked == 12 * 1024 for part in parts)


def test_a_bundle_may_have_packages_for_several_targets(tmp_path: Path) -> None:
    debs = [*make_debs(tmp_path, target="deb12-arm64"), *make_debs(tmp_path, target="deb13-amd64")]
    manifest = make_bundle(debs, KEY, tmp_path / "both")
    assert {part.target for part in manifest.for_table("deb12-arm64")} == {"deb12-arm64"}
    with pytest.raises(UpgradeError) as caught:
        manifest.for_table("deb13-arm64")
    assert caught.value.code == "upgrade_foreign"


def test_packages_of_two_versions_make_no_bundle(tmp_path: Path) -> None:
    common, _ = make_debs(tmp_path, "0.3.0")
    other = make_deb(tmp_path, "homologue-table", "0.3.1", {"pins.py": ""})
    for debs in ([common, other], [other]):
        with pytest.raises(UpgradeError) as caught:
            make_bundle(debs, KEY, tmp_path / "none")
        assert caught.value.code == "upgrade_damaged"
    assert not (tmp_path / "none").exists()


def test_a_file_that_is_not_our_package_makes_no_bundle(tmp_path: Path) -> None:
    note, cut = tmp_path / "note.deb", tmp_path / "cut.deb"
    note.write_text("hello")
    cut.write_bytes(make_debs(tmp_path)[0].read_bytes()[:100])
    gzipped = make_deb(tmp_path, "homologue-common", "1", {"pins.py": ""}, xz="-Zgzip")
    for deb in (note, cut, gzipped):
        with pytest.raises(UpgradeError) as caught:
            make_bundle([deb], KEY, tmp_path / "none")
        assert caught.value.code == "upgrade_damaged"


def test_an_imported_bundle_replaces_the_one_before(tmp_path: Path) -> None:
    folder = tmp_path / "taken"
    assert imported_manifest(folder) is None
    for version in ("0.3.0", "0.4.0"):
        bundle, manifest = bundle_of(tmp_path / version, version)
        signed = import_bundle(bundle, folder, TRUSTED)
        assert imported_manifest(folder) == signed
        assert signed.verify(TRUSTED) == manifest
        assert {path.name for path in folder.glob("*.deb")} == {f"{part.sha256}.deb" for part in manifest.parts}


def test_a_bundle_signed_with_an_untrusted_key_is_refused(tmp_path: Path) -> None:
    bundle, _ = bundle_of(tmp_path)
    assert refusal(bundle, tmp_path / "taken", {SigningKey.new().public}) == "upgrade_unsigned"
    assert refusal(bundle, tmp_path / "taken", set()) == "upgrade_unsigned"


def test_a_manifest_with_any_changed_byte_is_refused(tmp_path: Path) -> None:
    bundle, _ = bundle_of(tmp_path)
    with tarfile.open(bundle) as archive:
        member = archive.getmember("manifest.json")
    whole = bundle.read_bytes()
    for at in range(member.offset_data, member.offset_data + member.size, 31):
        changed = tmp_path / "changed"
        changed.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert refusal(changed, tmp_path / "taken") in {"upgrade_unsigned", "upgrade_damaged"}
    assert imported_manifest(tmp_path / "taken") is None


def test_a_damaged_bundle_is_refused_and_the_earlier_one_stays(tmp_path: Path) -> None:
    folder = tmp_path / "taken"
    before = import_bundle(bundle_of(tmp_path / "old", "0.2.0")[0], folder, TRUSTED)
    bundle, _ = bundle_of(tmp_path / "new")
    whole = bundle.read_bytes()
    with tarfile.open(bundle) as archive:
        first, second = archive.getmembers()[1:]
    for content in (
        whole[: second.offset_data + 20] + b"?" + whole[second.offset_data + 21 :],
        whole[: second.offset_data - 512],
        whole[: first.offset_data + 100],
        b"",
        b"hello" * 1000,
    ):
        bundle.write_bytes(content)
        assert refusal(bundle, folder) == "upgrade_damaged"
        assert imported_manifest(folder) == before
        assert all((folder / f"{part.sha256}.deb").exists() for part in before.verify(TRUSTED).parts)


def test_a_hall_can_trust_its_own_key_besides_the_release_keys(tmp_path: Path) -> None:
    keys = tmp_path / "upgrade.keys"
    assert KEY.public not in trusted_keys(keys)
    keys.write_text(f"# our own\n{KEY.public}\nnothing\n")
    assert trusted_keys(keys) == {*trusted_keys(), KEY.public}
    assert HALL_KEYS.parent == Path("/etc/homologue")


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"manifest": "{}", "key": "no", "signature": ""}'])
def test_content_that_is_not_a_manifest_is_refused(content: bytes) -> None:
    with pytest.raises(UpgradeError) as caught:
        read_signed_manifest(content)
    assert caught.value.code == "upgrade_damaged"


def test_the_manifest_has_the_formats_of_its_packages(tmp_path: Path) -> None:
    _, manifest = bundle_of(tmp_path, formats_told=formats(journal=(["4", "5"], "5")))
    assert (manifest.journal.opens, manifest.journal.writes) == (("4", "5"), "5")
