"""What everybody may hear of a deal, and that it is taken back where the deal is under embargo again."""

from broker.contract.facts import Ruled
from broker.contract.messages import PublicStandings, PublicTraveller
from broker.contract.rulings import Reopen
from broker.contract.wire import decode_at
from broker.scorer.outgoing import Outgoing, Speaker
from broker.scorer.publication import Publication
from broker.scorer.room import Room
from tests.broker.scorer.rulings.ruled import AT
from tests.broker.scorer.small import OUTCOMES, event, fact, result, whole_event

ROUND = 4
DEAL = event().bookings[1, ROUND].deal


def said(messages: list[Outgoing]) -> list[tuple[int, bool, int] | int]:
    """Give of each traveller its deal, whether it is complete, and its plays; of standings the plays that count."""
    found: list[tuple[int, bool, int] | int] = []
    for one in messages:
        _, message = decode_at(one.topic, one.payload)
        if isinstance(message, PublicTraveller):
            found.append((message.deal, message.complete, len(message.plays)))
        elif isinstance(message, PublicStandings):
            found.append(message.plays_in)
    return found


def test_a_deal_that_goes_back_under_the_embargo_is_taken_back_and_told_again_when_it_is_complete() -> None:
    facts = whole_event()
    room = Room(event())
    room.load(facts)
    publication = Publication(Speaker(event(), "store"))
    tables, plays = event().expected[DEAL], len(event().plan.plays)
    first = [*publication.of(room, [DEAL], 1, AT), *publication.standings(room, 1, AT)]
    assert said(first) == [(DEAL, True, tables), plays]
    seq = sum(one.table == 1 for one in facts)
    reopen = Ruled(round=ROUND, deal=DEAL, decision=Reopen(), author="A", role="table_arbiter", reason="R")
    room.apply(fact(1, seq + 1, reopen))
    assert said([*publication.of(room, [DEAL], 2, AT)]) == [(DEAL, False, 0), plays - tables]
    assert said([*publication.of(room, [DEAL], 3, AT)]) == []
    room.apply(fact(1, seq + 2, result(1, ROUND, OUTCOMES[2])))
    assert said([*publication.of(room, [DEAL], 4, AT)]) == [(DEAL, True, tables)]
    assert said([*publication.standings(room, 4, AT), *publication.standings(room, 4, AT)]) == [plays]


def test_what_a_scorer_before_this_one_has_told_is_taken_back_even_if_it_was_not_told_again() -> None:
    facts = whole_event()
    room = Room(event())
    room.load(facts)
    publication = Publication(Speaker(event(), "store"))
    publication.note(room, [DEAL])
    seq = sum(one.table == 1 for one in facts)
    reopen = Ruled(round=ROUND, deal=DEAL, decision=Reopen(), author="A", role="table_arbiter", reason="R")
    room.apply(fact(1, seq + 1, reopen))
    left = len(event().plan.plays) - event().expected[DEAL]
    assert said([*publication.of(room, [DEAL], 1, AT)]) == [(DEAL, False, 0), left]
