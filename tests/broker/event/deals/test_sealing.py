"""Sealed deals open only with the event's key, changes to them are detected, and restoring needs no key."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from broker.cli.main import homologue
from broker.errors import BadEvent, RuleError
from broker.event import open_event, read_deals, read_registry, save_event, write_deals
from broker.event.deals import DEALS_KEY, Opener, refuse_altered_deals, sealing
from broker.event.deals.commitment import commit_folder
from broker.event.readiness import deal_notes, start_problems
from broker.export.carrier_sheets import carrier_layouts
from broker.store.backup import files_of
from tests.broker.event.deals.asking import ask, codes, done, refused, sets_of
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.small import NAME, deals, plan, registry

Json = Any
"""Any JSON value."""

OTHER: Final = sealing.DealsKey.new()


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    save_event(tmp_path / "plain", plan(), deals(), registry())
    commit_folder(tmp_path / "plain", NAME)
    return tmp_path / "plain"


@pytest.fixture
def sealed(plain: Path) -> Path:
    folder = plain.with_name("sealed")
    shutil.copytree(plain, folder)
    done("seal", folder)
    return folder


def test_a_sealed_event_has_the_same_deals_as_the_plain_one(plain: Path, sealed: Path) -> None:
    one, other = open_event(plain), open_event(sealed)
    assert [one.order(deal) == other.order(deal) for deal in range(1, 5)] == [True] * 4
    assert [one.form(deal) == other.form(deal) for deal in range(1, 5)] == [True] * 4
    assert [one.faces(deal) == other.faces(deal) for deal in range(1, 5)] == [True] * 4
    assert [one.set_faces(number) == other.set_faces(number) for number in range(1, 5)] == [True] * 4
    assert carrier_layouts(plain) == carrier_layouts(sealed)
    assert start_problems(sealed) == []


def test_assignments_need_no_key(sealed: Path, plain: Path) -> None:
    (sealed / DEALS_KEY).unlink()
    assert open_event(sealed).plays_of(1) == open_event(plain).plays_of(1)


def test_the_event_check_notes_unsealed_deals_and_missing_shares(plain: Path, sealed: Path) -> None:
    assert deal_notes(plain) == [("not_sealed", "not sealed, so whoever can read deals.json knows them: deals 1-4")]
    assert [code for code, _ in deal_notes(sealed)] == ["no_shares"]
    done("shares", sealed, "--people", 3, "--needed", 2, "--output", sealed.with_name("shares"))
    assert deal_notes(sealed) == []


def test_each_deal_opens_by_itself(sealed: Path) -> None:
    """An altered deal does not keep the others from being opened."""
    change(sealed / "deals.json", lambda listed: listed[1].update(sealed=listed[2]["sealed"]))
    opener, listed = Opener(sealed), read_deals(sealed)
    assert [opener.deal(listed[at]).faces for at in (0, 2, 3)] == [deals()[at].faces for at in (0, 2, 3)]
    with pytest.raises(RuleError) as refused:
        opener.deal(listed[1])
    assert refused.value.code == "deal_altered"


def change(file: Path, how: Callable[[Json], None]) -> None:
    content = json.loads(file.read_text())
    how(content)
    file.write_text(json.dumps(content))


def exchanged(listed: Json) -> None:
    hand = listed[2]["order"]["east"][0]
    hand[0], hand[1] = hand[1], hand[0]


def other_byte(listed: Json) -> None:
    box = listed[2]["sealed"]
    listed[2]["sealed"] = box[:60] + ("A" if box[60] != "A" else "B") + box[61:]


@pytest.mark.parametrize(
    "how",
    [
        exchanged,
        other_byte,
        lambda listed: listed[2].update(set=1),
        lambda listed: listed[2].update(dealer="south"),
        lambda listed: listed[2].update(red=True),
        lambda listed: listed[2].update(sealed="none"),
    ],
)
def test_an_altered_sealed_deal_is_refused_by_number(sealed: Path, how: Callable[[Json], None]) -> None:
    change(sealed / "deals.json", how)
    with pytest.raises(BadEvent, match="deal 3 cannot be opened") as refused:
        refuse_altered_deals(sealed)
    assert [one.code for one in refused.value.found] == ["deal_altered"]
    assert "deal_altered" in {code for code, _ in start_problems(sealed)}
    assert "deal 3: NOT AS COMMITTED: deal_altered" in ask("verify", sealed).output


def test_a_resealed_deal_that_differs_from_the_commitment_is_refused(sealed: Path) -> None:
    """Anybody with the public key can seal a deal, but the commitment reveals the change."""
    listed = list(read_deals(sealed))
    opened = Opener(sealed).deal(listed[2])
    faces = opened.deal().faces
    other = replace(opened, faces={**faces, "east": faces["east"][::-1]})
    listed[2] = sealing.seal_deal(other, sets_of(sealed), sealing.read_key(sealed).public)
    write_deals(sealed, listed)
    with pytest.raises(BadEvent) as refused:
        refuse_altered_deals(sealed)
    assert [(one.code, str(one.text)) for one in refused.value.found] == [
        ("deal_differs", "deal 3 is not what was committed to")
    ]


def test_serials_stored_beside_a_plain_deal_are_ignored(plain: Path, sealed: Path) -> None:
    """Otherwise somebody could change the walls by adding serials to a deal that matches the commitment."""
    orders = [json.loads((sealed / "deals.json").read_text())[at]["order"] for at in (0, 1)]
    change(plain / "deals.json", lambda listed: listed[0].update(order=orders[1]))
    assert open_event(plain).order(1) == open_event(sealed).order(1)


def test_a_sealed_deal_without_serials_is_refused(sealed: Path) -> None:
    change(sealed / "deals.json", lambda listed: listed[0].pop("order"))
    with pytest.raises(BadEvent, match="deal 1"):
        open_event(sealed)


def test_an_altered_set_is_refused(sealed: Path) -> None:
    change(sealed / "sets.json", lambda sets: sets.update({"2": sets["3"]}))
    assert codes("set", "check", sealed) == ["set_altered"]


def test_another_key_opens_nothing(sealed: Path) -> None:
    sealing.write_key(sealed, OTHER)
    with pytest.raises(BadEvent) as refused:
        refuse_altered_deals(sealed)
    assert [one.code for one in refused.value.found] == ["deal_altered"] * 4


def test_without_its_key_an_event_does_not_start_and_says_how_to_recover_it(sealed: Path) -> None:
    (sealed / DEALS_KEY).unlink()
    with pytest.raises(BadEvent, match="homologue deal recover"):
        refuse_altered_deals(sealed)
    assert {code for code, _ in start_problems(sealed)} == {"deals_key_missing"}


def test_a_backup_contains_no_key(sealed: Path) -> None:
    (sealed / "draw.key").write_text("{}")
    names = {path.name for path in files_of(sealed)}
    assert (names >= {"deals.json", "sets.json", "commitment.json"}, names & {DEALS_KEY, "draw.key"}) == (True, set())


def test_interrupted_sealing_can_be_completed(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public = sealing.ensure_key(plain).public
    with monkeypatch.context() as patch:
        patch.setattr(sealing, "write_registry", lambda *_: exit_now())
        with pytest.raises(KeyboardInterrupt):
            sealing.seal_folder(plain, public)
    assert start_problems(plain) == []
    assert sealing.seal_folder(plain, public) == 4
    assert [isinstance(faces, str) for faces in read_registry(plain).values()] == [True] * 4
    assert done("seal", plain) == "Everything is sealed already.\n"


def test_sealing_a_folder_without_deals_is_refused_and_leaves_no_key(tmp_path: Path) -> None:
    """An organiser who names the wrong folder gets an error, and the folder stays empty."""
    assert codes("seal", tmp_path) == ["bad_event"]
    assert [*tmp_path.iterdir()] == []


def test_sealing_does_not_replace_a_missing_key(sealed: Path) -> None:
    """A new key could open nothing, and would keep the right one from being recovered."""
    (sealed / DEALS_KEY).unlink()
    assert done("seal", sealed) == "Everything is sealed already.\n"
    assert not (sealed / DEALS_KEY).exists()
    done("set", "new", sealed, "--set", 50)
    assert codes("seal", sealed) == ["deals_key_missing"]
    assert not (sealed / DEALS_KEY).exists()


def exit_now() -> None:
    raise KeyboardInterrupt


def test_plain_deals_with_sealed_sets_can_be_sealed_and_played(plain: Path) -> None:
    sealing.seal_registry(plain, read_registry(plain), sealing.ensure_key(plain).public)
    assert start_problems(plain) == []
    assert done("seal", plain) == "4 sealed.\n"
    assert start_problems(plain) == []


def test_only_the_given_sets_are_opened(sealed: Path, tmp_path: Path) -> None:
    done("set", "open", sealed, "--set", "2-3", "--output", tmp_path / "print")
    assert read_registry(tmp_path / "print") == {number: registry()[number] for number in (2, 3)}
    assert (tmp_path / "print" / "sets.json").stat().st_mode & 0o077 == 0
    assert codes("set", "open", sealed, "--set", "7", "--output", tmp_path / "other") == ["set_unknown"]


def test_a_key_that_others_can_read_is_reported(sealed: Path) -> None:
    (sealed / DEALS_KEY).chmod(0o644)
    assert codes("set", "check", sealed) == ["secret_exposed"]


def test_neither_key_nor_content_shows_in_a_repr(sealed: Path) -> None:
    key = sealing.read_key(sealed)
    assert key.to_bytes().hex() not in repr(key)
    assert "aaaa" not in repr(sealing.SealedContent({}, "a" * 64))


@pytest.fixture
def played(tmp_path: Path) -> tuple[Path, Path]:
    """The folders of the same finished event, plain and sealed."""
    folders = event_folder(tmp_path / "plain"), tmp_path / "sealed"
    commit_folder(folders[0], NAME)
    shutil.copytree(*folders)
    done("seal", folders[1])
    return folders


def exported(folder: Path, *words: str) -> bytes:
    output = folder.with_name(f"{folder.name}.{words[0]}")
    asked = CliRunner().invoke(homologue, ["export", words[0], str(folder), *words[1:], "--output", str(output)])
    assert asked.exit_code == 0, asked.output
    return output.read_bytes()


@pytest.mark.parametrize("form", ["json", "pmn"])
def test_exports_of_a_finished_sealed_event_equal_those_of_the_plain_one(played: tuple[Path, Path], form: str) -> None:
    plain, sealed = (exported(folder, form) for folder in played)
    assert plain == sealed


def test_exports_without_faces_need_no_key(played: tuple[Path, Path]) -> None:
    (played[1] / DEALS_KEY).unlink()
    assert exported(played[0], "results") == exported(played[1], "results")


def test_a_whole_document_keeps_deals_sealed_and_restores_the_same_folder(
    played: tuple[Path, Path], tmp_path: Path
) -> None:
    sealed, again = played[1], tmp_path / "again"
    whole = exported(sealed, "json", "--whole")
    assert b'"faces"' not in whole
    imported = CliRunner().invoke(homologue, ["event", "import", str(tmp_path / "sealed.json"), str(again)])
    assert imported.exit_code == 0, imported.output
    assert (read_deals(again), read_registry(again)) == (read_deals(sealed), read_registry(sealed))
    shutil.copy(sealed / DEALS_KEY, again)
    assert start_problems(again) == []


@pytest.mark.parametrize("which", [0, 1])
def test_a_deal_moved_to_another_set_stays_the_same_deal(played: tuple[Path, Path], which: int) -> None:
    folder = played[which]
    before, kind = open_event(folder), read_deals(folder)[0].sealed is None
    told = done("move", folder, "--deal", 1, "--set", 2)
    after = open_event(folder)
    assert "deal 1" in told.lower()
    assert (read_deals(folder)[0].sealed is None, read_deals(folder)[0].set) == (kind, 2)
    assert (before.open_deal(1), before.order(1) == after.order(1)) == (after.open_deal(1), False)
    assert {serial: after.set_faces(2)[serial] for serial in range(1, 137)} == dict(sorted(after.faces(1).items()))
    # The only problem is that deal 2 uses that set at another table in the same round.
    assert [code for code, _ in start_problems(folder)] == ["set_at_two_tables"]
    assert "set_at_two_tables: round 1: deals 1 and 2 both use set 2" in told


def test_a_deal_cannot_be_moved_to_an_unknown_set(sealed: Path) -> None:
    assert codes("move", sealed, "--deal", 1, "--set", 9) == ["set_unknown"]
    assert ["make it first" in one for one in refused("move", sealed, "--deal", 1, "--set", 9)] == [True]
    assert codes("move", sealed, "--deal", 9, "--set", 1) == ["deal_unknown"]
