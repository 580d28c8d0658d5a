"""`homologue session`: what a hand of riichi pays, and how the session goes on."""

from functools import cache
from typing import Annotated, Any

import click
from msgspec import Meta, Struct

from broker.calculators.profiles import load_or, riichi
from broker.calculators.riichi_events import Line, Number
from broker.calculators.stream import answer_each
from broker.contract.words import SEATS
from broker.rules.riichi.duplicate import alone
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.profile_files import DEFAULT
from broker.rules.riichi.session.apply import Settled, apply
from broker.rules.riichi.session.state import Points, RoundWind, State

Few = Annotated[int, Meta(ge=-9999, le=9999)]
Score = Annotated[int, Meta(ge=-100_000_000, le=100_000_000)]


class Start(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the session stands; what is left out is as at its beginning. `next` of an answer can be the start."""

    round_wind: RoundWind = "E"
    dealer: Number = 0
    honba: Few = 0
    riichi_sticks: Few = 0
    scores: tuple[Score, Score, Score, Score] | None = None
    game_over: bool = False

    def state(self, rules: RiichiProfile) -> State:
        """Give the state."""
        start = rules.session.scores.start.value
        scores: Points = (start, start, start, start) if self.scores is None else self.scores
        return State(self.round_wind, self.dealer, self.honba, self.riichi_sticks, scores, self.game_over)


class Question(Struct, forbid_unknown_fields=True):
    """A state, and what happened. `alone`: the points of a duplicate play, from the dealer of the start only."""

    event: Line
    start: Start = Start()
    rules: str | None = None
    alone: bool = False


def _told(settled: Settled) -> dict[str, Any]:
    state = settled.state
    told: dict[str, Any] = {
        "deltas": settled.deltas,
        "next": {
            "round_wind": state.round_wind,
            "dealer": state.dealer,
            "honba": state.counters,
            "riichi_sticks": state.deposits,
            "game_over": state.over,
            "scores": state.scores,
        },
    }
    return told if settled.places is None else told | {"places": settled.places}


@click.command(short_help="What a hand of riichi pays, and how the session goes on.")
@click.option(
    "--rules", default=DEFAULT, show_default=True, help="Riichi profile of lines that name none: its id, or a file."
)
@click.option(
    "--json", "as_json", is_flag=True, help="JSON lines on standard input, one answer a line (the only form)."
)
def session(rules: str, as_json: bool) -> None:  # noqa: ARG001, FBT001 - the flag names the contract; there is no other form yet
    """What a hand of riichi pays, who deals next, and whether the session is over.

    Players are 0 to 3 in turn order, 0 deals first. `next` is the `start` of the next line. With `"alone": true` the
    answer is the points of a duplicate play, in hundreds, for `homologue score --profile riichi-montreal`.
    docs/riichi-session.md has the events and the rules.

    \b
    {"rules": "montreal", "start": {"round_wind": "E", "dealer": 0, "honba": 0, "riichi_sticks": 0,
     "scores": [25000, 25000, 25000, 25000]}, "event": {"type": "ron", "winner": 1, "loser": 2, "han": 3, "fu": 30}}
    {"type": "tsumo", "winner": 0, "han": 2, "fu": 40, "riichi_declared": [0, 3]}
    {"type": "exhaustive_draw", "tenpai": [0, 2]}    {"type": "chombo", "offender": 3}    {"type": "game_end"}
    """  # noqa: D301 - click reads the \b
    given = cache(lambda: riichi(rules))

    def answer(question: Question) -> dict[str, Any]:
        chosen = given() if question.rules is None else load_or(given, question.rules)
        state, event = question.start.state(chosen), question.event.event()
        if question.alone:
            return {"points": alone(event, SEATS[state.dealer], chosen)}
        return _told(apply(state, event, chosen))

    answer_each(Question, answer)
