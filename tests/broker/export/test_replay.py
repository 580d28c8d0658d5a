"""Replays show the referee's state, and only once the standings are final."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser

from broker.event import HandRecord, write_hands
from broker.export.archive import BY_NAME, ExportSource
from broker.export.pmn.event import event_records, record_play
from broker.export.pmn.record import PmnRecord
from broker.export.replay import page_of_records, replay_page
from broker.i18n import Translator, languages
from broker.protocol import SEATS
from broker.rules import RuleError, load_mcr
from broker.rules.mcr import Action, PlayState, apply_action, open_play
from broker.scorer import open_stored_event
from tests.broker.export.pmn.test_event import drawn_out
from tests.broker.rules.mcr.playing import at_random, seldom
from tests.broker.rules.variants import OEDMC

NOON = datetime(2026, 5, 2, 12, 0, tzinfo=UTC)


def random_record(seed: int) -> tuple[PmnRecord, list[Action], list[PlayState]]:
    """Play a deal at random, with kongs; return its record, actions and the state after each action."""
    states = [*at_random(seed)]
    actions = [action for _, action in states]
    deal = states[0][0].deal
    record = record_play(deal, actions, load_mcr(), seldom)
    play, after = open_play(deal, OEDMC), list[PlayState]()
    for action in actions:
        play = apply_action(play, action, seldom)
        after.append(play)
    return replace(record, table=1, round=1), actions, after


def of_seats(play: PlayState) -> list[list[list[str]]]:
    """Return hand, melds and river of each chair."""
    hands = [play.hand(chair) for chair in SEATS]
    melded = [sorted(tile for meld in hand.melds for tile in meld.tiles) for hand in hands]
    return [[sorted(hand.concealed), melds, [*hand.river]] for hand, melds in zip(hands, melded, strict=True)]


SHOWN = """count => table(data.deals[0].plays[0], count).map(one =>
    [one.hand.sort(), one.melds.flat().sort(), one.river.map(thrown => thrown.tile)])"""


@pytest.mark.parametrize("seed", [1, 10, 15, 30])
def test_the_page_shows_the_same_state_as_the_referee(browser: Browser, seed: int) -> None:
    record, actions, after = random_record(seed)
    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.set_content(page_of_records([record], "Replay", Translator()))
    step = 0
    for action, play in zip(actions, after, strict=True):
        if action.do in ("no_claim", "self_hu", "hu_on_discard"):
            continue
        step += 1
        if step % 5 == 0 or action.do.endswith("kong"):
            assert page.evaluate(SHOWN, step) == of_seats(play), f"{step}: {action}"
    page.get_by_role("button", name="Next turn").click()
    assert page.locator("#now").inner_text() == "turn 1"
    assert page.locator(".t.last").count() == 1
    page.close()
    assert not faults


SWIPE = """to => [["touchstart", 200], ["touchend", to]].forEach(([kind, clientX]) => {
    const at = [new Touch({ identifier: 1, target: document.body, clientX, clientY: 9 })];
    document.getElementById("tables").dispatchEvent(new TouchEvent(kind, { touches: at, changedTouches: at }));
})"""


def test_keys_and_swipes_change_the_turn_and_a_phone_shows_one_seat_per_table(browser: Browser) -> None:
    records = [replace(random_record(seed)[0], board=1) for seed in (1, 10)]
    page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    page.set_content(page_of_records(records, "Replay", Translator()))
    turn, seats = page.locator("#now"), page.locator(".seat:visible")
    page.keyboard.press("ArrowRight")
    page.evaluate(SWIPE, 100)
    page.evaluate(SWIPE, 190)  # too short for a swipe
    assert (turn.inner_text(), seats.count()) == ("turn 2", 2)
    page.keyboard.press("ArrowLeft")
    page.evaluate(SWIPE, 300)
    page.get_by_label("All seats").check()
    assert (turn.inner_text(), seats.count()) == ("turn 0", 8)
    page.close()


def test_players_are_shown_by_chair(browser: Browser) -> None:
    record = replace(random_record(1)[0], dealer="south", players=dict(zip(SEATS, "ABCD", strict=True)))
    page = browser.new_page()
    page.set_content(page_of_records([record], "Replay", Translator()))
    assert page.locator("article .name").all_inner_texts() == ["East\nD", "South\nA", "West\nB", "North\nC"]
    page.close()


def test_unproved_steps_are_marked_and_names_are_escaped(browser: Browser) -> None:
    record, actions, _ = random_record(1)
    named = replace(record, players=dict.fromkeys(SEATS, "</script><b>Eve"))
    thrown = next(number for number, action in enumerate(actions, 1) if action.do == "discard")
    kept = {(1, 1): HandRecord(1, 1, 1, tuple(actions), (thrown,))}
    page = browser.new_page()
    page.set_content(page_of_records([named], "Replay", Translator(), kept))
    assert page.evaluate("data.deals[0].plays[0].steps.findIndex(step => step[3])") == 1
    assert page.locator("b").count() == 0
    assert page.locator(".name", has_text="</script><b>Eve").count() == len(SEATS)
    page.close()


@pytest.mark.parametrize("language", languages())
def test_the_page_of_an_event_has_its_known_plays(declared: Path, language: str) -> None:
    plain = open_stored_event(declared)
    write_hands(declared, [drawn_out(plain, result.round, message.table) for message, result in plain.results()])
    page = replay_page(open_stored_event(declared), Translator(language))
    assert Translator(language)("Turns of") in page
    known = [record for record in event_records(open_stored_event(declared)) if record.steps]
    assert page.count('"hands":') == len(known) > 0
    assert "{{" not in page


def test_the_replay_is_refused_before_the_standings_are_final(over: Path) -> None:
    source = ExportSource(over, open_stored_event(over), Translator(), NOON)
    with pytest.raises(RuleError) as refused:
        BY_NAME["replay.html"].content(source)
    assert refused.value.code == "not_final"
