"""All plays of an event, compared and added up; one play more recomputes its comparison group alone.

`Ledger.of(plays)` and the same plays one by one give the same totals (a test holds it), so that the desk can follow a
large event live and an audit can compute it anew.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from broker.rules.profile import Comparison
from broker.scoring.compare import Group, by_group
from broker.scoring.entries import Entries, numbering
from broker.scoring.plays import Adjustment, GroupKey, PlayKey, ScoredPlay
from broker.scoring.rows import Row
from broker.scoring.totals import Totals


@dataclass(frozen=True, eq=False)
class Ledger:
    """Plays and totals at one moment; never changed: `with_play` gives the next one."""

    profile: Comparison
    entries: Entries
    totals: Totals
    rows: Mapping[GroupKey, Row] = field(default_factory=dict)
    unplayed: Mapping[PlayKey, ScoredPlay] = field(default_factory=dict)
    """Plays without points; only what the arbiter gave for them counts."""

    @classmethod
    def of(cls, plays: Iterable[ScoredPlay], profile: Comparison, names: Iterable[str] = ()) -> "Ledger":
        """Compare and add up all plays, one a `key`. `names` are listed even before their first play."""
        listed = tuple(plays)
        number = numbering(names)
        rows = {key: Row.of(members, profile, number) for key, members in by_group(listed).items()}
        unplayed = {play.key: play for play in listed if play.points is None}
        entries = Entries(dict(number)).with_names(name for play in unplayed.values() for name in play.entries)
        totals = Totals.nothing(len(entries.number), fractions=profile.imp.method.value == "cross")
        for row in rows.values():
            totals.count(row, 1)
        for play in listed:
            if play.fines or play.awards:
                totals.rule(play, entries, 1)
        return cls(profile, entries, totals, rows, unplayed)

    @property
    def groups(self) -> tuple[Group, ...]:
        """All comparison groups, by deal, section and form."""
        return tuple(self.rows[key].group for key in sorted(self.rows))

    def plays_of(self, deal: int) -> list[ScoredPlay]:
        """Give all plays of a deal, in whatever section and form, those without points too."""
        compared = [play for key, row in self.rows.items() if key[0] == deal for play in row.group.members]
        return compared + [play for key, play in self.unplayed.items() if key[0] == deal]

    def with_play(self, play: ScoredPlay) -> "Ledger":
        """Add one play, or put it in the place of the one of its `key`."""
        entries = self.entries.with_names(play.entries)
        totals = self.totals.resized(len(entries.number))
        rows, unplayed = dict(self.rows), dict(self.unplayed)
        had = self._had(play)
        if had is not None:
            totals.rule(had, entries, -1)
            if unplayed.pop(had.key, None) is None:
                _exchange(totals, rows, had.group, rows[had.group].without(had.table))
        if play.points is None:
            unplayed[play.key] = play
        else:
            row = rows.get(play.group)
            with_it = row.with_play(play, entries.number) if row else Row.of([play], self.profile, entries.number)
            _exchange(totals, rows, play.group, with_it)
        totals.rule(play, entries, 1)
        return replace(self, entries=entries, totals=totals, rows=rows, unplayed=unplayed)

    def without(self, play: ScoredPlay) -> "Ledger":
        """Take out the play of this `key`, if there is one."""
        had = self._had(play)
        if had is None:
            return self
        totals = self.totals.resized(len(self.entries.number))
        rows, unplayed = dict(self.rows), dict(self.unplayed)
        totals.rule(had, self.entries, -1)
        if unplayed.pop(had.key, None) is None:
            _exchange(totals, rows, had.group, rows[had.group].without(had.table))
        return replace(self, totals=totals, rows=rows, unplayed=unplayed)

    def with_adjustments(self, adjustments: Iterable[Adjustment]) -> "Ledger":
        """Add IMPs that belong to no play."""
        listed = tuple(adjustments)
        entries = self.entries.with_names(one.name for one in listed)
        totals = self.totals.resized(len(entries.number))
        totals.adjust(listed, entries)
        return replace(self, entries=entries, totals=totals)

    def _had(self, play: ScoredPlay) -> ScoredPlay | None:
        """Give what was known of a play before, in whatever form it was compared."""
        in_any_form = (row.of_table(play.table) for key, row in self.rows.items() if key[:2] == play.group[:2])
        return next((had for had in in_any_form if had), self.unplayed.get(play.key))


def _exchange(totals: Totals, rows: dict[GroupKey, Row], key: GroupKey, new: Row | None) -> None:
    """Put a group in the place of the one of its key; the totals follow."""
    old = rows.pop(key, None)
    if old is not None:
        totals.count(old, -1)
    if new is not None:
        rows[key] = new
        totals.count(new, 1)
