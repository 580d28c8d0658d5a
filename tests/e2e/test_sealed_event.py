"""A drawn event from the announcement to a player's check at home with the program of docs/deals.md."""

import hashlib
import hmac
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from broker.cli.main import homologue
from broker.event import Event, open_event, write_plan
from broker.event.readiness import start_problems
from broker.protocol import SEATS, CountRequest, Declared, LogMessage, McrValue, McrWinDetails, Press, Restored, Seat
from broker.rules import Deal, new_deal
from broker.rules.commitment import Commitment, DrawName, SeededShuffler, commit_deals
from broker.scorer import open_stored_event
from broker.scorer.counting import HandCounter
from broker.store import STORE, SqliteJournal
from tests.broker.event.deals.asking import ask, codes, done
from tests.broker.event.deals.draws import BEACON, VALUE, announce, say
from tests.broker.scorer.small import NAME, fact, plan, whole_event
from tests.patience import PATIENCE_S

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "deals.md"


def said(event: Event) -> list[LogMessage]:
    """Return the facts of the small event's tables, with the walls of this one."""
    found = []
    for message in whole_event():
        one = message.fact
        if isinstance(one, Restored):
            one = replace(one, form=event.form(one.deal))
        found.append(fact(message.table, message.seq, one))
    return found


def store(folder: Path, messages: Iterable[LogMessage]) -> None:
    journal = SqliteJournal(folder / STORE, NAME)
    with journal.commit():
        for message in messages:
            journal.append(message, 0)
    journal.close()


def seven_pairs(event: Event) -> tuple[int, Seat, tuple[int, ...]]:
    """Return a deal, a seat, and 14 serials of its tray that are seven pairs, in drawing order."""
    for deal in range(1, 5):
        faces = event.faces(deal)
        for seat in SEATS:
            tray = [serial for row in event.order(deal)[seat] for serial in row]
            pairs: list[int] = []
            taken: Counter[str] = Counter(faces[serial] for serial in tray)
            for kind in [face for face, count in taken.items() if count >= 2][:7]:
                pairs += [serial for serial in tray if faces[serial] == kind][:2]
            if len(pairs) == 14:
                return deal, seat, tuple(sorted(pairs, key=tray.index))
    pytest.fail("sixteen trays, and seven pairs in none of them")


def counted(event: Event) -> set[str]:
    """Count seven pairs at the table that plays their deal first; return the fan."""
    deal, seat, hand = seven_pairs(event)
    table, round_ = next(key for key, booking in event.bookings.items() if booking.deal == deal and key[1] == 1)
    walls = Restored(round=round_, deal=deal, verified=True, by="camera", form=event.form(deal), refusals=0)
    press = Declared(round=round_, deal=deal, presses=(Press(seat=seat, after_ms=0),))
    details = McrWinDetails(last_tile=False, kong=False, last_of_kind=False)
    request = CountRequest(id="count-001", event=NAME, table=table, round=round_, deal=deal, seat=seat,
                           groups=(hand[:13], hand[13:]), said=details)  # fmt: skip
    value = HandCounter(event).answer(request, [fact(table, 1, walls), fact(table, 2, press)])
    assert isinstance(value, McrValue)
    return {one.id for one in value.elements}


def test_an_event_can_be_drawn_sealed_played_counted_revealed_and_verified(tmp_path: Path) -> None:
    cup, public = tmp_path / "cup", tmp_path / "public"
    published = announce(cup, beacon=BEACON)
    assert say(cup, value=VALUE).exit_code == 0
    write_plan(cup, plan())
    assert start_problems(cup) == []
    event = open_event(cup)

    assert "seven_pairs" in counted(event)

    log = said(event)
    last = max(at for at, message in enumerate(log) if message.fact.round == 4)
    store(cup, log[:last])  # the last result has not arrived yet
    embargoed = log[last].fact.deal
    assert codes("reveal", cup, "--output", public / "revealed.json") == ["deal_not_played"]
    store(cup, log[last:])
    assert not open_stored_event(cup).embargoed(embargoed)
    travellers = CliRunner().invoke(homologue, ["export", "json", str(cup), "--output", str(tmp_path / "cup.json")])
    assert travellers.exit_code == 0, travellers.output
    assert len(json.loads((tmp_path / "cup.json").read_text())["groups"]) >= 4

    public.mkdir()
    done("reveal", cup, "--output", public / "revealed.json")
    for name in ("commitment.json", "draws.json"):
        (public / name).write_bytes((cup / name).read_bytes())
    root = json.loads((public / "commitment.json").read_text())["root"]
    told = done("verify", public, "--root", root, "--draw", published)
    assert told.splitlines()[:5] == [
        *(f"deal {number}: as committed" for number in range(1, 5)),
        "draw 1: the deals come from the words that were committed to, and from 9f3c, if that is drand 77",
    ]
    lines = [f"root {root}", f"draw 1 {published}", "beacon 9f3c drand 77", "4 deals", "all right"]
    assert check(public) == (0, lines)

    content = json.loads((public / "revealed.json").read_text())
    hand_of_east = content["deals"][2]["faces"]["east"]
    at = next(at for at in range(1, 34) if hand_of_east[at] != hand_of_east[0])
    hand_of_east[0], hand_of_east[at] = hand_of_east[at], hand_of_east[0]
    (public / "revealed.json").write_text(json.dumps(content))
    assert check(public)[1][-1] == "WRONG: deal 3"
    assert "deal 3: NOT AS COMMITTED" in CliRunner().invoke(homologue, ["deal", "verify", str(public)]).output


def program() -> str:
    """Return the program in the document."""
    (found,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def check(public: Path) -> tuple[int, list[str]]:
    """Run it as a player at home does, without our code on its path."""
    (public / "check.py").write_text(program(), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-I", "check.py", "revealed.json", "commitment.json"],
        cwd=public, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert ran.stderr == ""
    return ran.returncode, ran.stdout.splitlines()


def test_the_documented_program_is_short_and_uses_none_of_our_code() -> None:
    lines = program().splitlines()
    assert len(lines) < 50
    (imported,) = (line.removeprefix("import ") for line in lines if re.search(r"\b(import|from)\b", line))
    assert sys.stdlib_module_names.issuperset(imported.split(", "))


@pytest.mark.parametrize("more", [(), ("--red-fives",)])
def test_the_documented_program_verifies_every_kind_of_deals(tmp_path: Path, more: tuple[str, ...]) -> None:
    announce(tmp_path / "drawn", *more, deals=3)
    assert say(tmp_path / "drawn").exit_code == 0
    done("new", "--event", "cup", "--deals", 2, *more, tmp_path / "plain")
    for folder, lines in ((tmp_path / "drawn", 4), (tmp_path / "plain", 3)):
        done("reveal", folder, "--output", folder / "revealed.json")
        code, told = check(folder)
        assert (code, len(told), told[-1]) == (0, lines, "all right")


# ---- forgeries ----------------------------------------------------------------------------------

Published = dict[str, Any]
"""The content of `revealed.json`."""


def chosen(deal: Published) -> None:
    """Deal East the best tiles."""
    tiles = sorted(tile for seat in SEATS for tile in deal["faces"][seat])
    deal["faces"] = {seat: tiles[34 * at : 34 * (at + 1)] for at, seat in enumerate(SEATS)}


def choose_all_and_keep_the_words(revealed: Published, _announcement: str) -> None:
    for deal in revealed["deals"]:
        chosen(deal)
    del revealed["draw"]


def drop_the_words_of_one(revealed: Published, announcement: str) -> None:
    """Replace one person by another in the words: the announcement is unchanged, but their words are in no seed."""
    told, words = revealed["draw"]["announcement"], revealed["draw"]["words"]
    first, second = told["people"]
    told["people"] = [{**first, "name": f"{first['name']}\nperson {second['words']} {second['name']}"}]
    words["people"] = words["people"][:1]
    draw_again(revealed, announcement)


def add_a_value_that_was_not_announced(revealed: Published, announcement: str) -> None:
    """Add an unannounced value, chosen once all words are known."""
    revealed["draw"]["words"]["beacon"] = "pleasing"
    draw_again(revealed, announcement)


def draw_again(revealed: Published, announcement: str) -> None:
    """Derive the deals from the words and value that are revealed now."""
    words = revealed["draw"]["words"]
    said = (f"words {one}" for one in words["people"])
    lines = ("homologue-seed-v1", f"announcement {announcement}", f"computer {words['computer']}", *said)
    text = "".join(f"{line}\n" for line in (*lines, f"beacon {words.get('beacon', 'none')}"))
    seed = hashlib.sha256(text.encode()).digest()
    for one in revealed["deals"]:
        number = one["number"]
        deal = new_deal(number, one["prevalent_wind"], one["dealer"], SeededShuffler(seed, f"deal {number}"))
        one["faces"] = {seat: list(deal.faces[seat]) for seat in SEATS}
        one["salt"] = hmac.digest(seed, f"deal {number} salt".encode(), "sha256").hex()


def let_another_deal(revealed: Published, _announcement: str) -> None:
    for deal in revealed["deals"]:
        deal["dealer"] = deal["prevalent_wind"] = "north"


def choose_one_and_hide_it(revealed: Published, _announcement: str) -> None:
    chosen(revealed["deals"][2])
    revealed["deals"][2]["hidden"] = True


def leave_one_out(revealed: Published, _announcement: str) -> None:
    del revealed["deals"][2]


def split_turns_otherwise(revealed: Published, _announcement: str) -> None:
    """Use three dealers in turn although four were announced."""
    turns = revealed["draw"]["announcement"]["dealers"] = ["east", "south west", "north"]
    for at, deal in enumerate(revealed["deals"]):
        deal["dealer"] = turns[at % len(turns)]


def not_drawn(*numbers: int) -> str:
    return "WRONG: " + ", ".join(f"deal {number} is not of these words" for number in numbers)


FORGERIES: Final[dict[Callable[[Published, str], None], tuple[str, str]]] = {
    choose_all_and_keep_the_words: ("as committed; that they were drawn is NOT shown", "draw_not_shown"),
    drop_the_words_of_one: (not_drawn(1, 2, 3, 4).replace("WRONG: ", "WRONG: announcement, "), "malformed"),
    add_a_value_that_was_not_announced: ("WRONG: beacon", "beacon_missing"),
    let_another_deal: (not_drawn(1, 2, 3, 4), "deal_not_drawn"),
    choose_one_and_hide_it: (not_drawn(3), "deal_not_drawn"),
    leave_one_out: (not_drawn(3), "deal_not_drawn"),
    split_turns_otherwise: (not_drawn(2, 3, 4), "malformed"),
}
"""Forgeries by whoever makes deals and commitment, with the documented program's message and our error code."""


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_forgeries_under_an_honest_announcement_are_detected(
    tmp_path: Path, forge: Callable[[Published, str], None]
) -> None:
    announcement = announce(tmp_path)
    assert say(tmp_path).exit_code == 0
    done("reveal", tmp_path, "--output", tmp_path / "revealed.json")
    revealed = json.loads((tmp_path / "revealed.json").read_text())
    committed = json.loads((tmp_path / "commitment.json").read_text())

    forge(revealed, announcement)
    deals = [
        (Deal(one["number"], one["prevalent_wind"], one["dealer"], one["faces"]), one["salt"])
        for one in revealed["deals"]
    ]
    forged = commit_deals("cup", deals, DrawName(**committed["draw"]))
    committed |= {"root": forged.root, "deals": [{"deal": one, "hash": hash_} for one, hash_ in forged.hashes.items()]}
    revealed["deals"] = [one for one in revealed["deals"] if not one.pop("hidden", False)]
    (tmp_path / "revealed.json").write_text(json.dumps(revealed))
    (tmp_path / "commitment.json").write_text(json.dumps(committed))

    said, code = FORGERIES[forge]
    shown, told = check(tmp_path)
    assert (shown, told[0], told[1], told[-1]) == (1, f"root {forged.root}", f"draw 1 {announcement}", said)
    ours = ask("verify", tmp_path / "revealed.json", "--commitment", tmp_path / "commitment.json")
    assert (ours.exit_code, code in ours.output) == (1, True), ours.output


def test_a_draw_with_another_number_than_announced_is_detected(tmp_path: Path) -> None:
    announcement = announce(tmp_path)
    assert say(tmp_path).exit_code == 0
    done("reveal", tmp_path, "--output", tmp_path / "revealed.json")
    committed = json.loads((tmp_path / "commitment.json").read_text())
    hashes = {one["deal"]: one["hash"] for one in committed["deals"]}
    committed["draw"]["number"] = 2
    committed["root"] = Commitment("cup", hashes, DrawName(2, announcement)).root
    (tmp_path / "commitment.json").write_text(json.dumps(committed))
    code, told = check(tmp_path)
    assert (code, told[-1].startswith("WRONG: announcement, ")) == (1, True)
    ours = ask("verify", tmp_path / "revealed.json", "--commitment", tmp_path / "commitment.json")
    assert (ours.exit_code, "draw_differs" in ours.output) == (1, True), ours.output


def test_a_draw_missing_from_the_commitment_is_not_confirmed(tmp_path: Path) -> None:
    announce(tmp_path)
    assert say(tmp_path).exit_code == 0
    done("reveal", tmp_path, "--output", tmp_path / "revealed.json")
    committed = json.loads((tmp_path / "commitment.json").read_text())
    hashes = {one["deal"]: one["hash"] for one in committed["deals"]}
    committed["root"] = Commitment("cup", hashes).root
    del committed["draw"]
    (tmp_path / "commitment.json").write_text(json.dumps(committed))
    code, told = check(tmp_path)
    assert (code, told[-1]) == (1, "as committed; that they were drawn is NOT shown")


def test_a_folder_that_lost_the_words_of_its_draw_is_not_confirmed_as_drawn(tmp_path: Path) -> None:
    announce(tmp_path)
    assert say(tmp_path).exit_code == 0
    (tmp_path / "words.sealed").unlink()
    said = ask("verify", tmp_path)
    assert (said.exit_code, "draw 1: NOT AS ANNOUNCED: draw_not_shown" in said.output) == (1, True), said.output
