"""Who plays which deal, at which table and seat, in which round. Pure; chance and time come in as parameters."""

from broker.rules.movement.booking import Booking, Play, Sitting
from broker.rules.movement.check import Fault, check, check_teams
from broker.rules.movement.make import make
from broker.rules.movement.order import Order
from broker.rules.movement.quality import Quality, quality
from broker.rules.movement.sixteen import SIZE, sixteen_players

__all__ = [
    "SIZE",
    "Booking",
    "Fault",
    "Order",
    "Play",
    "Quality",
    "Sitting",
    "check",
    "check_teams",
    "make",
    "quality",
    "sixteen_players",
]
