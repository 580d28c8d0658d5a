"""Record the attacks by group and whether they were repelled, and how to repeat those that succeeded."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Say = Callable[[str], None]


@dataclass
class Ledger:
    """The results of all attacks. `tried` is called once for each attack."""

    say: Say = lambda _: None
    counts: Counter[tuple[str, bool]] = field(default_factory=Counter)
    fell: list[tuple[str, str]] = field(default_factory=list)
    """The group and description of each attack that succeeded."""

    def tried(self, group: str, what: str, *, held: bool, why: str = "") -> None:
        """Record one attack."""
        self.counts[group, held] += 1
        if not held:
            self.fell.append((group, f"{what}: {why}" if why else what))
            self.say(f"FELL: {group}: {self.fell[-1][1]}")

    def tried_all(self, group: str, attacks: Iterable[str], fell: dict[str, str]) -> None:
        """Record several attacks; `fell` holds those that succeeded, with the reason."""
        for what in attacks:
            self.tried(group, what, held=what not in fell, why=fell.get(what, ""))

    @property
    def groups(self) -> list[str]:
        """All groups, in the order in which they were attacked."""
        return [*dict.fromkeys(group for group, _ in self.counts)]

    def matrix(self) -> list[str]:
        """Return the lines of the table of results."""
        width = max(map(len, ["all together", *self.groups]))
        rows = [(group, self.counts[group, True], self.counts[group, False]) for group in self.groups]
        rows.append(("all together", sum(row[1] for row in rows), sum(row[2] for row in rows)))
        lines = [f"{'':{width}}  tried   held   fell"]
        return lines + [f"{group:{width}} {held + fell:6d} {held:6d} {fell:6d}" for group, held, fell in rows]
