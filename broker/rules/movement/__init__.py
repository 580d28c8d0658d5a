"""Who plays which deal, at which table and seat, in which round. Pure; chance and time come in as parameters."""

from broker.rules.movement.affine import is_perfect
from broker.rules.movement.booking import Booking, NamedPlay, Play, Sitting, named
from broker.rules.movement.check import Fault, check, check_teams
from broker.rules.movement.make import make
from broker.rules.movement.order import Order
from broker.rules.movement.quality import Quality, is_measurable, quality, usual_copies
from broker.rules.movement.repair import repair
from broker.rules.movement.search import ASKED, GoOn
from broker.rules.movement.sixteen import SIZE, sixteen_players

__all__ = [
    "ASKED",
    "SIZE",
    "Booking",
    "Fault",
    "GoOn",
    "NamedPlay",
    "Order",
    "Play",
    "Quality",
    "Sitting",
    "check",
    "check_teams",
    "is_measurable",
    "is_perfect",
    "make",
    "named",
    "quality",
    "repair",
    "sixteen_players",
    "usual_copies",
]
