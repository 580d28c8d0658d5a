"""What a table tells always follows (`broker/protocol/play_sequence.py`), whatever happens at it."""

from collections.abc import Iterable

from hypothesis import given

from broker.protocol import Fact
from broker.protocol.play_sequence import OF_A_PLAY, TableSequence
from tests.kiosk.table.days import LONGER, Step, days


def follows(facts: Iterable[Fact], rounds: Iterable[int], sessions: frozenset[int] = frozenset()) -> TableSequence:
    """Take a table's facts in, each of which must follow."""
    table = TableSequence(tuple(rounds), sessions)
    for fact in facts:
        if isinstance(fact, OF_A_PLAY):
            table.follow(fact)
    return table


@given(days)
def test_whatever_happens_at_a_table_each_of_its_facts_follows(steps: list[Step]) -> None:
    told = [fact for step in steps for fact in step.facts]
    follows(told, (play.round for play in LONGER.plays))
