"""Which discard is least likely to be won on."""

from collections.abc import Sequence

from broker.club.outlook import Outlook
from broker.club.view import View
from broker.rules.referee.actions import Action
from broker.rules.tiles import COPIES


def hopeless(view: View, now: Outlook) -> bool:
    """Say whether more tiles are missing than can still come: the own wall, and about one claim in three turns."""
    left = view.own.wall
    return now.missing > left + (left + 2) // 3 or not now.sum


def safest(view: View, discards: Sequence[Action]) -> Action:
    """Give the discard that most others have passed lately, then the one of which most is seen."""
    latest = {tile for one in view.before for tile in one.river[-2:]}

    def safety(action: Action) -> tuple[bool, int, bool]:
        tile = action.tile or ""
        seen = view.shown[tile] + view.concealed.count(tile)
        return tile in latest, min(seen, COPIES), tile[1] == "z"

    return max(discards, key=safety)
