"""An event's deals and tile sets: generated or imported, registered, and committed to."""

from broker.event.deals.commitment import (
    COMMITMENT,
    deal_and_salt,
    read_commitment,
    read_event_head,
    refuse_altered_deals,
    refuse_other_event,
    resolve_event_name,
)
from broker.event.deals.draw import (
    DRAWS,
    WORDS,
    Draw,
    draw_of_deals,
    give_up_draw,
    make_drawn_deals,
    open_draw,
    read_drawn_words,
    read_draws,
)
from broker.event.deals.make import DEFAULT_WINDS, LAST_DEAL, too_many_sets
from broker.event.deals.sealing import DEALS_KEY, NO_KEY, Opener, read_shares
from broker.event.deals.tile_sets import LAST_SET
