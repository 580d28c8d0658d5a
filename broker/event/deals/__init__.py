"""Deals and tile sets of an event: made, taken from lists, registered, committed to."""

from broker.event.deals.commitment import (
    COMMITMENT,
    CommitmentFile,
    deal_and_salt,
    read_commitment,
    read_event_head,
    refuse_altered_deals,
    refuse_other_event,
    resolve_event_name,
)
from broker.event.deals.make import (
    DEFAULT_WINDS,
    LAST_DEAL,
)
from broker.event.deals.tile_sets import (
    LAST_SET,
)
