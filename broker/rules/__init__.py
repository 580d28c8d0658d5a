"""Tiles, deals, points and profiles: pure and exact, without a clock."""

from broker.rules.deal import (
    COPIES,
    FACES,
    FULL_SET,
    KINDS,
    RED,
    ROWS,
    SEAT_INDEX,
    TRAY,
    Deal,
    SerialTray,
    Shuffler,
    form_hash,
    has_red,
    in_rows,
    is_whole_registry,
    new_deal,
    new_set,
    seat_wind,
    serial_order,
)
from broker.rules.errors import (
    RuleError,
)
from broker.rules.points import (
    Outcome,
    allowed_outcome,
    check_outcome,
    seat_points,
    to_imp,
)
from broker.rules.profile import (
    AwardRules,
    ComparisonRules,
    DatumRules,
    ImpRules,
    McrPaymentRules,
    Profile,
    Stated,
    TieBreak,
    profile_settings,
)
from broker.rules.profiles import (
    DEFAULT_MCR,
    DEFAULT_RIICHI,
    Rules,
    counts_red_fives,
    is_riichi_text,
    load_mcr,
    load_of_same_book,
    load_riichi,
    load_rules,
    mcr_folder,
    parse_own_mcr,
    parse_own_rules,
    parse_riichi,
    parse_rules,
    same_rule_book,
    shipped_mcr,
    shipped_profiles,
    shipped_riichi,
)
