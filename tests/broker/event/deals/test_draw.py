"""Draws are announced, their words entered and their deals sealed; changes are detected, and interruptions resumed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
import zxingcpp

from broker.event import read_deals
from broker.event.deals import DEALS_KEY, Opener, read_commitment
from broker.event.deals import draw as draws
from broker.event.readiness import deal_notes
from broker.export.revealed_deals import verify_folder
from broker.rules import KINDS
from broker.rules.commitment import words_hash
from tests.broker.event.deals.asking import ask, codes, contents, done, refused
from tests.broker.event.deals.draws import BEACON, VALUE, WORDS, announce, drawn, say

Json = Any
"""Any JSON value."""

SECRET = {words for said in WORDS.values() for words in said.split() if len(words) > 3}


def leaks(folder: Path) -> list[str]:
    """Return the files that contain words, salts or a sequence of faces unencrypted."""
    runs = [f'"{one}","{other}"' for one in KINDS for other in KINDS]
    found = []
    for name, content in contents(folder).items():
        text = content.decode(errors="replace")
        if any(word in text for word in SECRET) or '"salt"' in text or any(run in text for run in runs):
            found.append(name)
    return found


def test_drawn_deals_are_sealed_committed_to_and_derived_from_the_words(tmp_path: Path) -> None:
    published = announce(tmp_path, beacon=BEACON)
    assert say(tmp_path, value=VALUE).exit_code == 0
    commitment = read_commitment(tmp_path / "commitment.json")
    assert commitment.draw is not None
    assert (commitment.draw.number, commitment.draw.announcement) == (1, published)
    assert [deal.sealed is not None for deal in read_deals(tmp_path)] == [True] * 4
    said = verify_folder(tmp_path)
    assert [one.refusal for one in said.deals] == [None] * 4
    assert said.draw is not None
    assert (said.draw.draw, said.draw.words is not None, said.draw.refusal) == (1, True, None)


def test_no_file_of_a_draw_ever_contains_words_or_faces(tmp_path: Path) -> None:
    announce(tmp_path)
    assert leaks(tmp_path) == []
    say(tmp_path)
    assert leaks(tmp_path) == []
    assert "draw.key" not in contents(tmp_path)
    done("new", "--event", "cup", "--deals", 1, tmp_path / "plain")
    assert leaks(tmp_path / "plain") == ["deals.json"]  # the check does find unencrypted faces


def test_wrong_words_are_asked_for_again_and_change_nothing(tmp_path: Path) -> None:
    announce(tmp_path)
    before = contents(tmp_path)
    said = say(tmp_path, "alpha beta delta")  # and no further words are entered
    assert said.exit_code == 1
    assert "these are not the words that Li Wei committed to" in said.output
    assert contents(tmp_path) == before
    right = say(tmp_path, "alpha beta delta", *WORDS.values())
    assert right.exit_code == 0


def test_the_output_of_a_draw_never_repeats_words(tmp_path: Path) -> None:
    announce(tmp_path)
    assert [word for word in SECRET if word in say(tmp_path, "alpha nonsense", *WORDS.values()).output] == []


@pytest.mark.parametrize("cut", range(6))
def test_an_interrupted_draw_leaks_nothing_and_is_resumed_with_the_same_deals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    writers = ["write_registry", "write_private", "write_deals", "publish_commitment", "_write_draws", "seal_deal"]

    def cut_short(*_: object) -> None:
        raise KeyboardInterrupt

    announce(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(draws, writers[cut], cut_short)
        with pytest.raises(KeyboardInterrupt):
            draws.make_drawn_deals(tmp_path, list(WORDS.values()))
    assert leaks(tmp_path) == []
    at_once = Opener(tmp_path)
    before = [at_once.deal(record) for record in read_deals(tmp_path)] if (tmp_path / "deals.json").exists() else []
    assert say(tmp_path).exit_code == 0
    after = [at_once.deal(record) for record in read_deals(tmp_path)]
    assert before in ([], after)
    assert [one.refusal for one in verify_folder(tmp_path).deals] == [None] * 4


def test_an_open_draw_blocks_further_draws_and_other_deals(tmp_path: Path) -> None:
    announce(tmp_path)
    people = f"--person=A={words_hash('x')}"
    assert codes("draw", "announce", "--event", "cup", "--deals", 4, people, tmp_path) == ["draw_open"]
    assert codes("new", "--event", "cup", "--deals", 4, tmp_path) == ["draw_open"]


def test_an_abandoned_draw_stays_listed_and_the_next_one_refers_to_it(tmp_path: Path) -> None:
    first = announce(tmp_path)
    done("draw", "give-up", tmp_path, "--reason", "Anne has lost her words")
    second = announce(tmp_path)
    say(tmp_path)
    one, two = draws.read_draws(tmp_path)
    assert (one.hash, one.given_up, two.announcement.number, two.announcement.previous) == (
        first,
        "Anne has lost her words",
        2,
        first,
    )
    assert read_commitment(tmp_path / "commitment.json").root == two.root
    assert (two.hash, "draws_before") == (second, next(code for code, _ in deal_notes(tmp_path) if "draws" in code))


def test_two_draws_with_the_same_words_have_different_deals(tmp_path: Path) -> None:
    one, two = (drawn(tmp_path / name) for name in ("one", "two"))
    faces = [[Opener(folder).deal(record).faces for record in read_deals(folder)] for folder in (one, two)]
    assert [first == other for first, other in zip(*faces, strict=True)] == [False] * 4


def altered(folder: Path, change: Callable[[Json], object]) -> None:
    file = folder / "draws.json"
    content = json.loads(file.read_text())
    change(content["draws"])
    file.write_text(json.dumps(content))


@pytest.mark.parametrize(
    "change",
    [
        lambda listed: listed.pop(0),
        lambda listed: listed.reverse(),
        lambda listed: listed[1]["announcement"].update(deals=3),
        lambda listed: listed[1]["announcement"]["people"].pop(),
        lambda listed: listed[0].update(hash="f" * 64),
    ],
)
def test_a_changed_list_of_draws_is_detected(tmp_path: Path, change: Callable[[Json], object]) -> None:
    announce(tmp_path)
    done("draw", "give-up", tmp_path, "--reason", "nobody came")
    drawn(tmp_path)
    altered(tmp_path, change)
    assert refused("verify", tmp_path)[0].startswith("draws_altered: ")


def test_a_draw_restarted_from_nothing_does_not_match_the_published_hash(tmp_path: Path) -> None:
    """A draw started in a new folder has another hash than the one that was published."""
    seen = announce(tmp_path / "one")
    drawn(tmp_path / "two")
    assert codes("verify", tmp_path / "two", "--draw", seen) == ["draw_differs"]
    used = draws.read_draws(tmp_path / "two")[0].hash
    assert ask("verify", tmp_path / "two", "--draw", used).exit_code == 0


def test_a_draw_without_the_computers_secret_can_only_be_abandoned(tmp_path: Path) -> None:
    announce(tmp_path)
    (tmp_path / "draw.key").unlink()
    assert say(tmp_path).output.splitlines()[-1].endswith(" [draw_secret_missing]")
    done("draw", "give-up", tmp_path, "--reason", "the disk failed")


@pytest.mark.parametrize(
    ("people", "code"),
    [
        (["A=" + "a" * 64, "A=" + "b" * 64], "name_twice"),
        (["A=" + "a" * 64, "B=" + "a" * 64], "words_twice"),
    ],
)
def test_two_people_cannot_share_a_name_or_a_hash(tmp_path: Path, people: list[str], code: str) -> None:
    given = [f"--person={one}" for one in people]
    assert codes("draw", "announce", "--event", "cup", "--deals", 2, *given, tmp_path) == [code]


def test_deals_can_be_drawn_on_a_machine_that_cannot_open_them(tmp_path: Path) -> None:
    key = done("key", tmp_path / "scorer").strip()
    maker = drawn(tmp_path / "maker", "--seal-for", key)
    assert DEALS_KEY not in contents(maker)
    assert codes("verify", maker) == ["deals_key_missing"]
    (maker / DEALS_KEY).write_bytes((tmp_path / "scorer" / DEALS_KEY).read_bytes())
    assert ask("verify", maker).exit_code == 0


def test_generated_words_have_the_documented_hash() -> None:
    told = done("draw", "words")
    words, hash_ = (line.strip() for line in told.splitlines() if line.startswith("  "))
    assert (len(set(words.split())) > 8, words_hash(words)) == (True, hash_)


def test_the_words_are_revealed_only_with_all_deals(tmp_path: Path) -> None:
    drawn(tmp_path / "cup")
    done("reveal", tmp_path / "cup", "--deal", 1, "--output", tmp_path / "one.json")
    done("reveal", tmp_path / "cup", "--output", tmp_path / "all.json")
    assert [leaks_words(tmp_path / name) for name in ("one.json", "all.json")] == [False, True]
    told = done("verify", tmp_path / "one.json", "--commitment", tmp_path / "cup" / "commitment.json", "--json")
    assert json.loads(told.splitlines()[-1]) == {"draw": 1, "words_revealed": False, "as_announced": True}


def leaks_words(file: Path) -> bool:
    return any(word in file.read_text() for word in SECRET)


def test_revealed_deals_that_do_not_come_from_the_words_are_reported(tmp_path: Path) -> None:
    """Even those who make both deals and commitment cannot pass other deals off as drawn."""
    cup = drawn(tmp_path / "cup")
    done("reveal", cup, "--output", tmp_path / "revealed.json")
    content = json.loads((tmp_path / "revealed.json").read_text())
    content["draw"]["words"]["people"][0] = "alpha beta delta"
    (tmp_path / "revealed.json").write_text(json.dumps(content))
    said = ask("verify", tmp_path / "revealed.json", "--commitment", cup / "commitment.json")
    assert said.exit_code == 1
    assert "NOT AS ANNOUNCED: words_differ" in said.output


def test_red_fives_and_sets_are_drawn_too(tmp_path: Path) -> None:
    drawn(tmp_path, "--red-fives", "--sets", "5,6")
    assert [(deal.set, deal.has_red) for deal in read_deals(tmp_path)] == [(5, True), (6, True)] * 2
    assert done("set", "check", tmp_path) == "Complete sets: 5, 6.\n"


def test_words_written_to_a_page_are_not_printed(tmp_path: Path) -> None:
    told = done("draw", "words", "--output", tmp_path / "words.pdf")
    words = zxingcpp.read_barcodes(pypdfium2.PdfDocument(tmp_path / "words.pdf")[0].render(scale=3).to_numpy())[0].text
    assert (told.split()[-1], (tmp_path / "words.pdf").stat().st_mode & 0o077) == (words_hash(words), 0)
    assert [word for word in words.split() if word in told.split()] == []
