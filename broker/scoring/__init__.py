"""From points to IMPs and places, by exact functions without input or output."""

from broker.scoring.bounds import (
    Bounds,
    entry_bounds,
    reachable_bounds,
    team_bounds,
    with_likely_places,
)
from broker.scoring.compare import (
    NO_RULINGS,
    TABLE_OFFSET,
    Adjustment,
    ComparisonGroup,
    Entries,
    Exact,
    PlayWithImps,
    ScoredPlay,
    Whole,
    awards_for_unplayed,
    compare_plays,
    exact_quotient,
    in_turn_order,
    json_imp,
    table_of,
)
from broker.scoring.standings import (
    GroupRow,
    Imps,
    Ledger,
    PreviousPlaces,
    Ranked,
    Ranking,
    Totals,
    carry_over,
    exact_imps,
    player_standings,
    standing_places,
)
from broker.scoring.strength import (
    GOALS,
    MOST_PLAYERS,
    EventStrength,
    Interval,
    event_strength,
    joint_strength,
    length_factor,
)
from broker.scoring.team import (
    Lineup,
    TeamDeal,
    Teams,
    comparable_deals,
    compare_teams,
    deal_lineups,
    lineup_points,
    missing_seats,
    rank_teams,
    team_of_players,
    team_result,
)
