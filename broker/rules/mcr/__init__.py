"""MCR: the value of a hand in fan, and the referee of a play."""

from broker.rules.mcr.fan import (
    LANGUAGES,
    RULESETS,
    FanCount,
    Language,
    Ruleset,
    check_minimum,
    count_fan,
    count_hu,
    fan_81,
    fan_index,
    fan_judge,
    fan_name,
    fan_value,
    meld_from_table,
    shanten_and_useful,
)
from broker.rules.mcr.hand import (
    KNITTED,
    ORPHANS,
    SUITED,
    Counts,
    McrHand,
    McrMeld,
    McrSituation,
    is_seven_pairs,
    is_thirteen_orphans,
    kind_counts,
)
from broker.rules.mcr.play_from_rivers import (
    Ending,
    FoundPlay,
    PlayStep,
    play_from_rivers,
)
from broker.rules.mcr.play_search import GAP
from broker.rules.mcr.referee import (
    CHOWS,
    RUNS,
    Hu,
    Judge,
    PlayState,
    StepRefused,
    TableMeld,
    apply_action,
    open_play,
    replay_actions,
)
from broker.rules.mcr.turns import (
    WALL,
    Action,
    ActionKind,
    Phase,
    SituationFan,
    StartPhase,
    TurnState,
    apply_turn,
    begin_turns,
    settle_claims,
)
from broker.rules.mcr.what_happened import (
    ABOUT_SETS,
    CLAIMS,
    MOST_SETS,
    PHASE_LABELS,
    QUESTIONS,
    Answer,
    Scene,
    what_happened,
)
