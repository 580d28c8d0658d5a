"""Places: by total IMP; equal totals share a place."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Total:
    """One player's or team's sum: `imp` is what remains after `fines`."""

    imp: int = 0
    fines: int = 0
    plays: int = 0

    def plus(self, imp: int, fine: int) -> "Total":
        """Add one play's IMPs and take off its fine."""
        return Total(self.imp + imp - fine, self.fines + fine, self.plays + 1)


@dataclass(frozen=True, slots=True)
class Ranked:
    """One line of the standings."""

    place: int
    name: str
    total: Total


def rank(totals: Mapping[str, Total]) -> tuple[Ranked, ...]:
    """Put totals in order, best first; the place of a tie is shared and the next ones stay free (1, 1, 3)."""
    ordered = sorted(totals.items(), key=lambda item: (-item[1].imp, item[0]))
    better = {imp: sum(total.imp > imp for total in totals.values()) for imp in {t.imp for t in totals.values()}}
    return tuple(Ranked(better[total.imp] + 1, name, total) for name, total in ordered)
