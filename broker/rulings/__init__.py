"""What arbiters decide: rulings, how they are applied to plays, checked, previewed and given."""

from broker.rulings.model import (
    DEADLINE,
    FINAL,
    SESSIONS,
    TITLE,
    WHO_PLAYS,
    CountedPlay,
    PlayKey,
    RulingAuthor,
    RulingBook,
    RulingDraft,
    RulingEntry,
    Subject,
    adjustments,
    apply_rulings,
    entry_of,
    event_subject,
    form_of,
    imp_of,
    player_subject,
    result_of,
    riichi_win_of,
    settled_by_ruling,
    unruled_play,
    with_points_of_deal,
)
from broker.rulings.plan import (
    StandIn,
    corrected_event,
    corrects_plan,
    sitting_players,
    substitute_of,
    tables_concerned,
    with_substitutes,
)
from broker.rulings.plan_changes import follows_plan
