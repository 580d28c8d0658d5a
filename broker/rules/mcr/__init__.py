"""MCR: the value of a hand in fan, and the referee of a play."""

from broker.rules.mcr.fan import (
    LANGUAGES,
    RULESETS,
    FanCount,
    FanElement,
    Language,
    Ruleset,
    by_green_book,
    check_minimum,
    code_from_tile,
    count_fan,
    count_hu,
    fan_81,
    fan_entries,
    fan_ids,
    fan_judge,
    fan_name,
    fan_place,
    fan_value,
    ids_by_library_name,
    mahjong_gb,
    meld_from_table,
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
    is_winning,
    kind_counts,
)
from broker.rules.mcr.play_from_rivers import (
    Ending,
    FoundPlay,
    PlayStep,
    play_from_rivers,
)
from broker.rules.mcr.play_search import (
    CALLED,
    LaidSeat,
)
from broker.rules.mcr.referee import (
    CHOWS,
    RUNS,
    Hu,
    Judge,
    MeldKind,
    PlayState,
    SeatTiles,
    StepRefused,
    TableMeld,
    apply_action,
    legal_actions,
    open_play,
    replay_actions,
    tiles_left,
)
from broker.rules.mcr.shanten import (
    mcr_waits,
    shanten,
    shanten_and_useful,
)
from broker.rules.mcr.turns import (
    DOES,
    PHASES,
    WALL,
    Action,
    Do,
    Extra,
    Phase,
    SituationFan,
    StartPhase,
    Turns,
    apply_turn,
    awaited_seats,
    begin_turns,
    settle_claims,
)
from broker.rules.mcr.what_happened import (
    ABOUT_SETS,
    ASKED,
    CLAIMS,
    MOST_SETS,
    PHASE_ASKED,
    Answer,
    Scene,
    what_happened,
)
