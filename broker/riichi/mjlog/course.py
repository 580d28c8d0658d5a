"""Whether the hands of a record pay, and the session goes on, as they do here."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from broker.riichi.mjlog.check import Checked
from broker.riichi.mjlog.game import ANY, as_played, kind_of
from broker.riichi.mjlog.hands import Hand, hands_of
from broker.riichi.mjlog.tags import Tag
from broker.rules.errors import RuleError
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session.apply import apply
from broker.rules.riichi.session.events import SessionEnd
from broker.rules.riichi.session.state import State


def checked_hands(tags: Sequence[Tag], profile: RiichiProfile) -> Iterator[Checked]:
    """Settle each hand of a record again. Raises RuleError `bad_record` for a game of three."""
    rules = as_played(profile, next((kind_of(tag) for tag in tags if tag.name == "GO"), ANY))
    for count, (hand, following) in enumerate(pairwise([*hands_of(tags), None]), 1):
        after = following.before if isinstance(following, Hand) else None
        yield Checked(count, _told(hand, after, rules))


def _told(hand: Hand | RuleError | None, after: State | None, rules: RiichiProfile) -> tuple[str, ...]:
    try:
        return tuple(_differences(hand, after, rules)) if isinstance(hand, Hand) else (_refused(hand),)
    except RuleError as problem:
        return (_refused(problem),)


def _refused(problem: RuleError | None) -> str:
    return f"{problem.code}: {problem.text}" if problem else ""


def _differences(hand: Hand, after: State | None, rules: RiichiProfile) -> Iterator[str]:
    """Raises RuleError where the hand cannot be read, or cannot be."""
    settled = apply(hand.before, hand.event(), rules)
    if settled.deltas != hand.paid():
        yield f"pays {settled.deltas}, in the record {hand.paid()}"
    lay = hand.before.counters, hand.before.deposits + len(hand.riichi)
    if hand.lay() != lay:
        yield f"{lay[0]} counters and {lay[1]} deposits, in the record {hand.lay()[0]} and {hand.lay()[1]}"
    yield from _continued(hand, settled.state, after, rules)


def _continued(hand: Hand, state: State, after: State | None, rules: RiichiProfile) -> Iterator[str]:
    final = hand.final()
    if (after is not None and after != state) or (final is not None and not state.over):
        yield f"goes on with {_named(state)}, in the record with {_named(after)}"
    if final is not None:
        ended = apply(state, SessionEnd(), rules).state.scores
        if ended != final:
            yield f"ends with {ended}, in the record with {final}"


def _named(state: State | None) -> str:
    """Name a hand as players do, `S4`, with its counters, deposits and scores."""
    if state is None or state.over:
        return "the end"
    deal = f"{state.round_wind}{state.dealer + 1}"
    return f"{deal}, {state.counters} counters, {state.deposits} deposits, {state.scores}"
