"""Who sits where: every place of the plan is listed once, for its player and for its table."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from broker.event import BookedPlay, Plan, by_round, places_of, seating_of, seating_rounds, tables_of_rounds
from broker.protocol import SEATS, Player, Session

PLAYERS = tuple(Player(id=f"p{number:02}", name=f"Player {number}") for number in range(1, 13))


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Draw rounds in which some of twelve players sit at up to three tables."""
    plays = []
    for round_ in range(1, draw(st.integers(1, 5)) + 1):
        order = draw(st.permutations([one.id for one in PLAYERS]))
        for table in range(1, draw(st.integers(1, 3)) + 1):
            players = dict(zip(SEATS, order[4 * (table - 1) : 4 * table], strict=True))
            plays.append(BookedPlay(round_, table, round_, players))
    return Plan("cup", "Cup", "oedmc-2020", PLAYERS, tuple(plays))


@given(plans())
def test_every_place_is_listed_once(plan: Plan) -> None:
    listed = Counter(
        (one.round, one.table, one.seat, who) for who, places in seating_of(plan).items() for one in places
    )
    planned = Counter((one.round, one.table, seat, who) for one in plan.plays for seat, who in one.players.items())
    assert listed == planned
    assert [(one.round, one.table) for one in tables_of_rounds(plan)] == sorted(
        (one.round, one.table) for one in plan.plays
    )


@given(plans())
def test_a_player_is_found_by_round(plan: Plan) -> None:
    for places in seating_of(plan).values():
        assert list(by_round(places).values()) == list(places)
        assert set(by_round(places)) <= set(seating_rounds(plan))


@given(plans())
def test_one_player_s_places_are_those_among_everybody_s(plan: Plan) -> None:
    assert {player.id: places_of(plan, player.id) for player in PLAYERS} == seating_of(plan)


def test_who_sits_nowhere_has_no_places_and_a_round_knows_its_session() -> None:
    session = Session("Saturday", 1, 1, "2026-11-28 10:00")
    plan = Plan(
        *("cup", "Cup", "oedmc-2020", PLAYERS),
        (BookedPlay(1, 1, 1, dict(zip(SEATS, ("p01", "p02", "p03", "p04"), strict=True))),),
        sessions=(session,),
    )
    assert seating_of(plan)["p12"] == ()
    assert seating_of(plan)["p03"][0].session is session
