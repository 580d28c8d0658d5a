"""What a table says of itself. Pure, but for the random id of a message."""

import uuid

from broker.contract.messages import TableState
from broker.contract.words import Lifecycle
from kiosk.config import Config
from kiosk.errors import PinGuessed, SelfTestFailed, SelfTestSkipped
from kiosk.journal import Journal
from kiosk.table.arbiter import AT_THE_TABLE, FREE_TRIES
from kiosk.table.play_clock import minutes, played_ms, stood_ms
from kiosk.table.state import Table


def told_of(
    config: Config,
    journal: Journal,
    state: Table,
    lifecycle: Lifecycle,
    unsent: int,
    health: dict[str, str],
    pin: str | None = None,
) -> TableState:
    """Give the message of a state; the uplink counts it."""
    return TableState(
        id=uuid.uuid4().hex,
        event=config.event,
        table=config.table,
        seq=journal.last_seq,
        device=journal.device,
        start=journal.start,
        count=0,
        lifecycle=lifecycle,
        state=state.public,
        round=state.play.round if state.play else None,
        deal=state.play.deal if state.play else None,
        unsent=unsent,
        calling=state.calling,
        paused=state.paused,
        ordered=state.ordered,
        obeyed=dict(state.obeyed),
        pin=pin,
        minutes=minutes(state),
        extra_min=state.extra_min,
        stood_ms=stood_ms(state),
        played_ms=played_ms(state),
        arbiter="" if state.arbiter == AT_THE_TABLE else state.arbiter,
        health=health,
    )


def told_of_people(state: Table) -> dict[str, str]:
    """Give what is told of what people did: skipped the self-test, or went on with what it found; guessed the PIN."""
    codes = {"skipped": SelfTestSkipped.code, "failed": SelfTestFailed.code}
    test = {"self_test": codes[state.self_test]} if state.self_test in codes else {}
    return {**test, "pin": PinGuessed.code} if state.pins_wrong >= FREE_TRIES else test
