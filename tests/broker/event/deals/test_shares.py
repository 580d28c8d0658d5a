"""Any k of n shares recover the key of an event whose machine is lost; fewer do not."""

import re
import shutil
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pypdfium2
import pytest
import zxingcpp
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from broker.cli.main import homologue
from broker.event.deals import DEALS_KEY, sealing
from broker.event.deals.commitment import commit_folder
from broker.event.deals.sealing import DealsKey
from broker.event.readiness import deal_notes, start_problems
from broker.people import Authentication
from broker.rules import RuleError
from broker.web.alerts import TOLD_ACTIONS
from tests.broker.event.deals.asking import ask, codes, contents, done
from tests.broker.event.deals.draws import drawn
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.small import NAME
from tests.examples import COSTLY


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    return drawn(tmp_path / "cup", deals=2)


def recover(folder: Path, *given_: str) -> Result:
    return CliRunner().invoke(homologue, ["deal", "recover", str(folder)], input="".join(f"{one}\n" for one in given_))


def words_of(file: Path) -> str:
    """Return the share on a printed page, typed from its numbered words."""
    text = pypdfium2.PdfDocument(file)[0].get_textpage().get_text_bounded()
    numbered = {int(number): word for number, word in re.findall(r"(\d+)\. ([a-z]+)", text)}
    return " ".join(numbered[at] for at in range(1, len(numbered) + 1))


def scanned(file: Path) -> str:
    """Return what a scanner reads from the page."""
    picture = pypdfium2.PdfDocument(file)[0].render(scale=3).to_numpy()
    return zxingcpp.read_barcodes(picture)[0].text


def test_the_documented_rehearsal_of_a_lost_machine_works(cup: Path, tmp_path: Path) -> None:
    done("shares", cup, "--people", 5, "--needed", 3, "--output", tmp_path / "shares")
    files = sorted((tmp_path / "shares").iterdir())
    assert ([file.name for file in files], {file.stat().st_mode & 0o077 for file in files}) == (
        [f"share-{number:02}.pdf" for number in range(1, 6)],
        {0},
    )
    key = (cup / DEALS_KEY).read_bytes()
    (cup / DEALS_KEY).unlink()
    assert codes("verify", cup) == ["deals_key_missing"]
    given_ = [words_of(files[4]), scanned(files[0]), words_of(files[2])]
    told = recover(cup, given_[0], "not a share", given_[0].upper(), given_[1], given_[1], given_[2])
    assert (told.exit_code, (cup / DEALS_KEY).read_bytes(), (cup / DEALS_KEY).stat().st_mode & 0o077) == (0, key, 0)
    assert "2 sealed deals open with it" in told.output
    # A single word of a share may occur in any sentence, but not three in a row.
    words = given_[0].split()
    in_a_row = [" ".join(words[at : at + 3]) for at in range(len(words) - 2)]
    assert [some for some in in_a_row if some in told.output] == []
    assert ask("verify", cup).exit_code == 0


def test_a_lost_machine_is_replaced_from_a_backup_and_two_shares(tmp_path: Path) -> None:
    """A stolen backup is useless, but with two shares on paper the event continues from it."""
    event = event_folder(tmp_path / "event")
    commit_folder(event, NAME)
    done("seal", event)
    done("shares", event, "--people", 3, "--needed", 2, "--output", tmp_path / "shares")
    (tmp_path / "stick").mkdir()
    for words in (("backup", event, "--to", tmp_path / "stick"), ("restore", tmp_path / "stick", tmp_path / "new")):
        assert CliRunner().invoke(homologue, ["store", *map(str, words)]).exit_code == 0
    shutil.rmtree(event)
    assert {code for code, _ in start_problems(tmp_path / "new")} == {"deals_key_missing"}
    told = recover(tmp_path / "new", *(scanned(tmp_path / "shares" / f"share-0{number}.pdf") for number in (1, 3)))
    assert (told.exit_code, start_problems(tmp_path / "new")) == (0, [])
    done("reveal", tmp_path / "new", "--output", tmp_path / "revealed.json")


@COSTLY
@given(st.integers(2, 5).flatmap(lambda people: st.tuples(st.just(people), st.integers(2, people))))
def test_any_k_shares_recover_the_key_and_fewer_do_not(
    tmp_path_factory: pytest.TempPathFactory, counts: tuple[int, int]
) -> None:
    folder, (people, needed) = tmp_path_factory.mktemp("key"), counts
    key = sealing.ensure_key(folder)
    made = sealing.make_shares(folder, people, needed)
    for some in combinations(made, needed):
        (folder / DEALS_KEY).unlink()
        assert sealing.recover_key(folder, some).to_bytes() == key.to_bytes()
    (folder / DEALS_KEY).unlink()
    for few in combinations(made, needed - 1):
        with pytest.raises(RuleError) as refused:
            sealing.recover_key(folder, few)
        assert refused.value.code == "shares_too_few"
    assert DEALS_KEY not in contents(folder)


def test_no_share_contains_the_key_or_recurs_when_the_key_is_split_again(tmp_path: Path) -> None:
    """Two splits of one key have no words in common that could be recognised."""
    sealing.write_key(tmp_path, DealsKey.from_bytes(bytes(32)))
    one, other = (sealing.make_shares(tmp_path, 3, 2) for _ in range(2))
    assert len({share.split(maxsplit=4)[4] for share in (*one, *other)}) == 6
    assert [share for share in one if "academic academic academic" in share] == []  # the word for zeros


def test_writing_shares_is_audited_and_alerted(cup: Path, tmp_path: Path) -> None:
    with closing(Authentication(cup)) as auth:
        done("shares", cup, "--people", 3, "--needed", 2, "--output", tmp_path / "shares")
        (last,) = auth.audit.newest(1)
    assert (last.action, last.about, last.action in TOLD_ACTIONS) == ("faces_shown", "key, 3 shares, 2 needed", True)


@pytest.mark.parametrize("counts", [(1, 1), (3, 1), (2, 3), (17, 2)])
def test_numbers_of_shares_that_protect_nothing_are_refused(tmp_path: Path, counts: tuple[int, int]) -> None:
    sealing.ensure_key(tmp_path)
    with pytest.raises(RuleError) as refused:
        sealing.make_shares(tmp_path, *counts)
    assert refused.value.code == "shares_wrong"


def test_shares_of_another_event_are_refused(cup: Path, tmp_path: Path) -> None:
    sealing.ensure_key(tmp_path)
    others = sealing.make_shares(tmp_path, 3, 2)
    own = sealing.make_shares(cup, 3, 2)
    sealing.note_shares(cup, 3, 2)
    (cup / DEALS_KEY).unlink()
    for noted in (True, False):  # without the file, the deals show that the key is wrong
        if not noted:
            (cup / sealing.SHARES).unlink()
        with pytest.raises(RuleError) as refused:
            sealing.recover_key(cup, others[:2])
        assert (refused.value.code, DEALS_KEY in contents(cup)) == ("key_of_another", False)
    sealing.recover_key(cup, own[:2])


def test_shares_that_could_not_be_written_are_not_recorded(cup: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    assert codes("shares", cup, "--people", 3, "--needed", 2, "--output", tmp_path / "taken" / "shares") == [
        "file_failed"
    ]
    assert ("no_shares" in {code for code, _ in deal_notes(cup)}, sealing.SHARES in contents(cup)) == (True, False)


def test_shares_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    sealing.ensure_key(tmp_path)
    one, other = (sealing.make_shares(tmp_path, 3, 2) for _ in range(2))
    for pair, code in ((one[0], other[1]), "share_of_another"), ((one[0], one[0]), "share_twice"):
        with pytest.raises(RuleError) as refused:
            sealing.recover_key(tmp_path, pair)
        assert refused.value.code == code


def test_an_existing_key_is_not_replaced(tmp_path: Path) -> None:
    sealing.ensure_key(tmp_path)
    made = sealing.make_shares(tmp_path, 2, 2)
    sealing.write_key(tmp_path, DealsKey.new())
    before = contents(tmp_path)
    with pytest.raises(RuleError) as refused:
        sealing.recover_key(tmp_path, made)
    assert (refused.value.code, contents(tmp_path)) == ("key_exists", before)
