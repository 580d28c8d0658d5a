"""Who plays which deal, at which table and seat, in which round."""

from broker.event.movement.algebra import (
    MODULI,
    SIZE,
    finite_field,
    has_field,
    is_perfect,
    sixteen_players,
)
from broker.event.movement.make import (
    least_possible_cost,
    make_movement,
    repair_movement,
)
from broker.event.movement.plays import (
    SEATED,
    MovementFault,
    MovementOrder,
    MovementPlay,
    NamedPlay,
    NumberedPlay,
    check_movement,
    check_teams,
    lay_out,
    name_players,
    numbered_plays,
    table_rounds,
)
from broker.event.movement.plays_csv import (
    MOVEMENT_COLUMNS,
    MovementProblem,
    decode_movement,
    movement_csv,
    read_player_id,
)
from broker.event.movement.quality import (
    comparisons,
    is_measurable,
    least_excess,
    measure_movement,
    meetings,
    usual_copies,
)
from broker.event.movement.search import (
    STEPS_AT_ONCE,
    KeepSearching,
    SearchFrame,
    Seating,
    propose,
)
