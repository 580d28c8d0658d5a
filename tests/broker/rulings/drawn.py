"""Hypothesis strategies for rulings of any kind on the small event, some of which undo others."""

from hypothesis import strategies as st

from broker.protocol import (
    SEATS,
    Adjusted,
    AnyDecision,
    Award,
    DealPlayed,
    FineRuled,
    Fouled,
    Result,
    SeatsPlayed,
    Substitute,
    Undo,
    Void,
    Withdrawn,
)
from tests.broker.rulings.ruled import correct
from tests.broker.scorer.small import OUTCOMES, event, whole_log

DrawnRuling = tuple[AnyDecision, tuple[int, int] | None, int | None]
"""A decision with its play or its deal."""


@st.composite
def sequences(draw: st.DrawFn) -> list[DrawnRuling]:
    """Draw rulings of any kind in any order, some of which undo others."""
    found: list[DrawnRuling] = []
    for number in range(1, draw(st.integers(1, 8)) + 1):
        play = draw(st.sampled_from(sorted(event().bookings)))
        players = event().bookings[play].players
        everybody = sorted(event().players)
        swapped = {**players, "east": players["west"], "west": players["east"]}
        elsewhere = dict(zip(SEATS, draw(st.permutations(everybody)), strict=False))
        tables = draw(st.permutations(event().tables))
        of_play: list[AnyDecision] = [
            correct(draw(st.sampled_from(OUTCOMES)), None),
            Void(),
            Adjusted(gives=dict.fromkeys(players.values(), draw(st.sampled_from(["own", "others", 7])))),
            Award(gives={players["south"]: draw(st.integers(-9, 9))}),
            FineRuled(takes={players["north"]: draw(st.integers(1, 9))}),
            SeatsPlayed(players=draw(st.sampled_from([swapped, elsewhere]))),
            DealPlayed(played=draw(st.integers(1, 4)), result=_result(draw, play)),
        ]
        of_event: list[AnyDecision] = [
            Substitute(player=players["west"], name="Ada Reserve", first_round=draw(st.integers(1, 4))),
            Withdrawn(player=players["north"], first_round=draw(st.integers(1, 4))),
            Award(gives=dict.fromkeys(draw(st.permutations(everybody))[:2], draw(st.sampled_from([-20, 3, "others"])))),
            FineRuled(takes={draw(st.sampled_from(everybody)): draw(st.integers(1, 9))}),
        ]
        kind = draw(st.integers(0, len(of_play) + len(of_event) + (number > 1)))
        if kind < len(of_play):
            found.append((of_play[kind], play, None))
        elif kind < len(of_play) + len(of_event):
            found.append((of_event[kind - len(of_play)], None, None))
        elif kind == len(of_play) + len(of_event):
            cut = draw(st.integers(1, 3))
            found.append((Fouled(groups=(tuple(tables[:cut]), tuple(tables[cut:]))), None, draw(st.integers(1, 4))))
        else:
            found.append((Undo(ruling=f"ruling-{draw(st.integers(1, number - 1)):04}"), None, None))
    return found


def _result(draw: st.DrawFn, play: tuple[int, int]) -> str | None:
    """Draw the id of the play's result, of another result, or None. Only with the first does the play have a result."""
    own = next(one.id for one in whole_log(play[0]) if isinstance(one.fact, Result) and one.fact.round == play[1])
    return draw(st.sampled_from([own, own, None, "t1-fact-6"]))
