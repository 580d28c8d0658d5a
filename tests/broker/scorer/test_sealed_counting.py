"""A sealed deal is opened to count a hand, and for nothing else. Without the key, the value is entered by hand."""

from pathlib import Path

import pytest

from broker.event import DealRecord, Event, open_event, save_event
from broker.event.deals import Opener, sealing
from broker.protocol import LogMessage, McrValue, NotCounted
from broker.rules import RuleError
from broker.scorer import EventState
from broker.scorer.counting import HandCounter
from tests.broker.scorer.small import deals, plan, registry
from tests.broker.scorer.test_counting import EVENT, READ, SELF_DRAWN, declared, restored


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the deals that were opened."""
    found: list[int] = []
    really = Opener.deal

    def noting(opener: Opener, record: DealRecord) -> DealRecord:
        found.append(record.number)
        return really(opener, record)

    monkeypatch.setattr(Opener, "deal", noting)
    return found


@pytest.fixture
def sealed(tmp_path: Path, opened: list[int]) -> Event:
    """The sealed event of the tests that count."""
    crafted = DealRecord(1, 1, "east", "east", dict(EVENT.open_deal(1).faces))
    save_event(tmp_path, plan(), (crafted, *deals()[1:]), registry())
    sealing.seal_folder(tmp_path)
    opened.clear()
    return open_event(tmp_path)


def test_a_hand_of_a_sealed_deal_has_the_same_value(sealed: Event, opened: list[int]) -> None:
    answer = HandCounter(sealed).answer(SELF_DRAWN, READ)
    assert isinstance(answer, McrValue)
    assert opened == [1]
    assert answer == HandCounter(EVENT).answer(SELF_DRAWN, READ)


@pytest.mark.parametrize("told", [(), (restored(),), (declared("south"), restored()), (declared(),)])
def test_no_sealed_deal_is_opened_before_a_declaration(
    sealed: Event, opened: list[int], told: tuple[LogMessage, ...]
) -> None:
    assert isinstance(HandCounter(sealed).answer(SELF_DRAWN, told), NotCounted)
    assert opened == []


def test_no_sealed_deal_is_opened_once_the_play_has_a_result(sealed: Event, opened: list[int]) -> None:
    assert HandCounter(sealed).answer(SELF_DRAWN, READ, recorded={1}) == NotCounted(code="play_has_result")
    assert opened == []


def test_a_scorer_that_counts_no_hand_opens_no_deal(sealed: Event, opened: list[int]) -> None:
    room = EventState(sealed)
    assert (room.complete(1), len(sealed.plays_of(1)), opened) == (False, 4, [])


def test_an_opened_deal_is_not_kept_in_memory(sealed: Event, tmp_path: Path) -> None:
    counter = HandCounter(sealed)
    counter.answer(SELF_DRAWN, READ)
    (tmp_path / sealing.DEALS_KEY).unlink()
    with pytest.raises(RuleError, match=sealing.DEALS_KEY):
        sealed.open_deal(1)


def test_without_the_key_the_table_has_to_enter_the_value(sealed: Event, tmp_path: Path) -> None:
    (tmp_path / sealing.DEALS_KEY).unlink()
    assert HandCounter(sealed).answer(SELF_DRAWN, READ) == NotCounted(code="deal_sealed")
