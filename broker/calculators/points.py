"""`homologue points`: what each seat scores in one play."""

from collections.abc import Callable

import click
from msgspec import Struct, field

from broker.calculators.profiles import once
from broker.calculators.stream import answer_each
from broker.contract.words import HandValue, Seat, WinKind
from broker.rules.points import Outcome, kept
from broker.rules.points import points as points_of
from broker.rules.profile import Profile
from broker.rules.profile_files import DEFAULT, load


class Question(Struct, forbid_unknown_fields=True):
    """One play's outcome."""

    win: WinKind
    winners: dict[Seat, HandValue] = field(default_factory=dict)
    discarder: Seat | None = None
    profile: str | None = None


def _answer(question: Question, otherwise: Callable[[], Profile]) -> dict[str, dict[Seat, int]]:
    payments = (otherwise() if question.profile is None else load(question.profile)).payments
    declared = Outcome(question.win, question.winners, question.discarder)
    return {"points": points_of(kept(declared, payments), payments)}


@click.command(short_help="Points of the four seats for an outcome.")
@click.option(
    "--profile", default=DEFAULT, show_default=True, help="Of lines that name none: an id, or a file in .toml."
)
@click.option(
    "--json", "as_json", is_flag=True, help="JSON lines on standard input, one answer a line (the only form)."
)
def points(profile: str, as_json: bool) -> None:  # noqa: ARG001, FBT001 - the flag names the contract; there is no other form yet
    """Points of the four seats for the outcome of a play.

    \b
    echo '{"win": "discard", "winners": {"east": 18}, "discarder": "north"}' | homologue points --json
    {"win": "self_drawn", "winners": {"east": 18}}      {"win": "draw"}
    """  # noqa: D301 - click reads the \b
    otherwise = once(profile)
    answer_each(Question, lambda question: _answer(question, otherwise))
