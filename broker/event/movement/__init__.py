"""Movements: who plays which deal, at which table and seat, in which round."""

from broker.event.movement.algebra import SIZE, sixteen_players
from broker.event.movement.make import make_movement, usual_order
from broker.event.movement.plays import (
    SEATED,
    MovementFault,
    MovementOrder,
    MovementPlay,
    NamedPlay,
    NumberedPlay,
    RandomSource,
    check_movement,
    check_teams,
    name_players,
    sets_of_pods,
)
from broker.event.movement.plays_csv import MovementProblem, decode_movement, movement_csv, read_player_id
from broker.event.movement.quality import is_measurable, measure_movement, meetings, usual_copies
from broker.event.movement.repair import repair_movement
from broker.event.movement.search import STEPS_AT_ONCE, KeepSearching
