"""Sealed deals open with the event's key alone; whoever changes them is noticed, and restoring needs no key."""

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
"""What `json` reads: of any shape."""

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


def test_a_sealed_event_is_the_same_event(plain: Path, sealed: Path) -> None:
    one, other = open_event(plain), open_event(sealed)
    assert [one.order(deal) == other.order(deal) for deal in range(1, 5)] == [True] * 4
    assert [one.form(deal) == other.form(deal) for deal in range(1, 5)] == [True] * 4
    assert [one.faces(deal) == other.faces(deal) for deal in range(1, 5)] == [True] * 4
    assert [one.set_faces(number) == other.set_faces(number) for number in range(1, 5)] == [True] * 4
    assert carrier_layouts(plain) == carrier_layouts(sealed)
    assert start_problems(sealed) == []


def test_what_tables_are_sent_needs_no_key(sealed: Path, plain: Path) -> None:
    (sealed / DEALS_KEY).unlink()
    assert open_event(sealed).plays_of(1) == open_event(plain).plays_of(1)


def test_the_event_check_says_what_is_not_sealed_and_what_is_not_shared(plain: Path, sealed: Path) -> None:
    assert deal_notes(plain) == [("not_sealed", "not sealed, so whoever can read deals.json knows them: deals 1-4")]
    assert [code for code, _ in deal_notes(sealed)] == ["no_shares"]
    done("shares", sealed, "--people", 3, "--needed", 2, "--output", sealed.with_name("shares"))
    assert deal_notes(sealed) == []


def test_each_deal_opens_by_itself(sealed: Path) -> None:
    """One that was altered closes no other."""
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
def test_a_sealed_deal_that_was_altered_is_refused_by_its_number(sealed: Path, how: Callable[[Json], None]) -> None:
    change(sealed / "deals.json", how)
    with pytest.raises(BadEvent, match="deal 3 cannot be opened") as refused:
        refuse_altered_deals(sealed)
    assert [one.code for one in refused.value.found] == ["deal_altered"]
    assert "deal_altered" in {code for code, _ in start_problems(sealed)}
    assert "deal 3: NOT AS COMMITTED: deal_altered" in ask("verify", sealed).output


def test_a_deal_that_was_sealed_anew_is_not_what_was_committed_to(sealed: Path) -> None:
    """The public key is no secret: whoever has it can seal, and the commitment tells."""
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


def test_a_plain_deal_lies_as_its_faces_have_it_whatever_stands_beside_them(plain: Path, sealed: Path) -> None:
    """Else who writes serials beside faces that were committed to would have other walls restored."""
    orders = [json.loads((sealed / "deals.json").read_text())[at]["order"] for at in (0, 1)]
    change(plain / "deals.json", lambda listed: listed[0].update(order=orders[1]))
    assert open_event(plain).order(1) == open_event(sealed).order(1)


def test_a_sealed_deal_without_its_serials_is_none(sealed: Path) -> None:
    change(sealed / "deals.json", lambda listed: listed[0].pop("order"))
    with pytest.raises(BadEvent, match="deal 1"):
        open_event(sealed)


def test_a_set_that_was_altered_is_refused_by_its_number(sealed: Path) -> None:
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


def test_a_copy_of_an_event_has_no_key(sealed: Path) -> None:
    (sealed / "draw.key").write_text("{}")
    names = {path.name for path in files_of(sealed)}
    assert (names >= {"deals.json", "sets.json", "commitment.json"}, names & {DEALS_KEY, "draw.key"}) == (True, set())


def test_sealing_that_was_cut_short_is_finished(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public = sealing.ensure_key(plain).public
    with monkeypatch.context() as patch:
        patch.setattr(sealing, "write_registry", lambda *_: exit_now())
        with pytest.raises(KeyboardInterrupt):
            sealing.seal_folder(plain, public)
    assert start_problems(plain) == []
    assert sealing.seal_folder(plain, public) == 4
    assert [isinstance(faces, str) for faces in read_registry(plain).values()] == [True] * 4
    assert done("seal", plain) == "Everything is sealed already.\n"


def test_a_folder_without_deals_has_nothing_that_could_be_sealed(tmp_path: Path) -> None:
    """An organiser who names another folder than the event's learns it, and no key is left there."""
    assert codes("seal", tmp_path) == ["bad_event"]
    assert [*tmp_path.iterdir()] == []


def test_no_key_is_made_beside_the_one_that_seals(sealed: Path) -> None:
    """It would open nothing, and keep the right one from being recovered."""
    (sealed / DEALS_KEY).unlink()
    assert done("seal", sealed) == "Everything is sealed already.\n"
    assert not (sealed / DEALS_KEY).exists()
    done("set", "new", sealed, "--set", 50)
    assert codes("seal", sealed) == ["deals_key_missing"]
    assert not (sealed / DEALS_KEY).exists()


def exit_now() -> None:
    raise KeyboardInterrupt


def test_plain_deals_in_sealed_sets_are_sealed_and_played(plain: Path) -> None:
    sealing.seal_registry(plain, read_registry(plain), sealing.ensure_key(plain).public)
    assert start_problems(plain) == []
    assert done("seal", plain) == "4 sealed.\n"
    assert start_problems(plain) == []


def test_a_set_is_opened_for_its_labels_alone(sealed: Path, tmp_path: Path) -> None:
    done("set", "open", sealed, "--set", "2-3", "--output", tmp_path / "print")
    assert read_registry(tmp_path / "print") == {number: registry()[number] for number in (2, 3)}
    assert (tmp_path / "print" / "sets.json").stat().st_mode & 0o077 == 0
    assert codes("set", "open", sealed, "--set", "7", "--output", tmp_path / "other") == ["set_unknown"]


def test_a_key_that_others_can_read_is_named(sealed: Path) -> None:
    (sealed / DEALS_KEY).chmod(0o644)
    assert codes("set", "check", sealed) == ["secret_exposed"]


def test_neither_key_nor_content_shows_in_a_repr(sealed: Path) -> None:
    key = sealing.read_key(sealed)
    assert key.to_bytes().hex() not in repr(key)
    assert "aaaa" not in repr(sealing.SealedContent({}, "a" * 64))


@pytest.fixture
def played(tmp_path: Path) -> tuple[Path, Path]:
    """The same event twice, over: plain, and sealed."""
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
def test_what_is_exported_of_a_sealed_event_that_is_over_is_what_is_exported_of_the_plain_one(
    played: tuple[Path, Path], form: str
) -> None:
    plain, sealed = (exported(folder, form) for folder in played)
    assert plain == sealed


def test_nothing_that_needs_no_face_needs_the_key(played: tuple[Path, Path]) -> None:
    (played[1] / DEALS_KEY).unlink()
    assert exported(played[0], "results") == exported(played[1], "results")


def test_a_whole_document_keeps_sealed_deals_sealed_and_makes_the_same_folder(
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
def test_a_deal_of_a_damaged_set_lies_in_another_one_and_is_the_same_deal(
    played: tuple[Path, Path], which: int
) -> None:
    folder = played[which]
    before, kind = open_event(folder), read_deals(folder)[0].sealed is None
    told = done("move", folder, "--deal", 1, "--set", 2)
    after = open_event(folder)
    assert "deal 1" in told.lower()
    assert (read_deals(folder)[0].sealed is None, read_deals(folder)[0].set) == (kind, 2)
    assert (before.open_deal(1), before.order(1) == after.order(1)) == (after.open_deal(1), False)
    assert {serial: after.set_faces(2)[serial] for serial in range(1, 137)} == dict(sorted(after.faces(1).items()))
    # Nothing is wrong with the deal; that set lies with deal 2 at the other table of the round.
    assert [code for code, _ in start_problems(folder)] == ["set_at_two_tables"]
    assert "set_at_two_tables: round 1: deals 1 and 2 both use set 2" in told


def test_a_deal_goes_into_a_set_that_there_is(sealed: Path) -> None:
    assert codes("move", sealed, "--deal", 1, "--set", 9) == ["set_unknown"]
    assert ["make it first" in one for one in refused("move", sealed, "--deal", 1, "--set", 9)] == [True]
    assert codes("move", sealed, "--deal", 9, "--set", 1) == ["deal_unknown"]
