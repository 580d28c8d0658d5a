"""Individual event: the sum of a player's IMPs over all plays, minus fines (MIL, OEDMC)."""

from collections.abc import Iterable, Mapping

from broker.contract.words import Seat
from broker.scoring.compare import Group
from broker.scoring.ranking import Ranked, Total, rank


def totals(groups: Iterable[Group], players: Iterable[str] = ()) -> dict[str, Total]:
    """Add up. `players` are listed with a total of nothing even before their first play."""
    sums = dict.fromkeys(players, Total())
    for group in groups:
        for compared in group.plays:
            _add(sums, compared.play.players, compared.imp, compared.play.fines)
    return sums


def _add(
    sums: dict[str, Total], players: Mapping[Seat, str], imp: Mapping[Seat, int], fines: Mapping[Seat, int]
) -> None:
    for seat, player in players.items():
        sums[player] = sums.get(player, Total()).plus(imp[seat], fines.get(seat, 0))


def standings(groups: Iterable[Group], players: Iterable[str] = ()) -> tuple[Ranked, ...]:
    """Give the standings of an individual event."""
    return rank(totals(groups, players))
