"""When a table takes the plan that it was sent, and where it begins in it."""

from collections.abc import Collection

from broker.contract.messages import Assignment
from kiosk.table.machine import BETWEEN
from kiosk.table.plan import renames, settled_now
from kiosk.table.state import Phase, Table


def content(plan: Assignment) -> tuple[object, ...]:
    """Give what of a plan matters to a table."""
    session = plan.session and (plan.session.round, plan.session.players)
    of_rounds = tuple(sorted(plan.repeats.items())), tuple(sorted(plan.minutes.items()))
    said = plan.store, plan.profile, plan.rules, plan.plays, plan.public_address
    return *said, *of_rounds, plan.settled, session


def may_be_taken(offered: Assignment, table: Table, store: str | None) -> bool:
    """Take no plan before the receipt of the same store: our facts are numbered after those that it has.

    A broker may keep the plan of a rehearsal. So a play for which staff only lay trays gives way to the plan of
    another store, and to one in which arbiters have settled it, or seated a substitute; any other play is finished
    first.
    """
    if offered.store != store:
        return False
    had, phase = table.assignment, table.phase
    other = had is not None and had.store != offered.store
    return phase in BETWEEN or (
        phase is Phase.RESTORING and (other or settled_now(table, offered) or renames(table, offered))
    )


def first_left(plan: Assignment, played: Collection[tuple[int, int]]) -> int:
    """Give the place in the plan of the first play that neither we (rounds and deals) nor the scorer have."""
    return next(
        (
            at
            for at, one in enumerate(plan.plays)
            if one.round not in plan.recorded and (one.round, one.deal) not in played
        ),
        len(plan.plays),
    )
