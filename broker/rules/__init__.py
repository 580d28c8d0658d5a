"""Tiles, deals, points and rule profiles. All functions are pure and exact and read no clock."""

from broker.errors import RuleError
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
from broker.rules.infractions import FALSE_HU, Penalty, appeal_minutes, choices_of, infractions_of
from broker.rules.points import (
    Outcome,
    allowed_outcome,
    check_outcome,
    points_paid,
    score_alone,
    score_riichi,
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
    Setting,
    TieBreak,
    profile_settings,
    setting_text,
)
from broker.rules.profile_check import ProfileMistake, examine_profile, read_profile
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
from broker.rules.riichi.profile import RiichiProfile
