"""`homologue points`: what each seat scores in one play."""

import click
from msgspec import Struct, field

from broker.calculators.stream import answer_each
from broker.contract.words import HandValue, Seat, WinKind
from broker.rules.points import Outcome
from broker.rules.points import points as points_of
from broker.rules.profile_files import DEFAULT, load


class Question(Struct, forbid_unknown_fields=True):
    """One play's outcome."""

    win: WinKind
    winners: dict[Seat, HandValue] = field(default_factory=dict)
    discarder: Seat | None = None
    profile: str = DEFAULT


def _answer(question: Question) -> dict[str, dict[Seat, int]]:
    outcome = Outcome(question.win, question.winners, question.discarder)
    return {"points": points_of(outcome, load(question.profile).payments)}


@click.command(short_help="Points of the four seats for an outcome.")
@click.option(
    "--json", "as_json", is_flag=True, help="JSON lines on standard input, one answer a line (the only form)."
)
def points(as_json: bool) -> None:  # noqa: ARG001, FBT001 - the flag names the contract; there is no other form yet
    """Points of the four seats for the outcome of a play.

    \b
    echo '{"win": "discard", "winners": {"east": 18}, "discarder": "north"}' | homologue points --json
    {"win": "self_drawn", "winners": {"east": 18}}      {"win": "draw"}
    """  # noqa: D301 - click reads the \b
    answer_each(Question, _answer)
