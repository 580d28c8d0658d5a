"""A rehearsal of an event: its players, movement and rules, with simulated tables and people, in a copy.

The event's folder is only read. The copy has its own deals and sets, so that nothing of the event's deals is shown, and
its own keys and certificates. The ends of plays are drawn at random, not played. Faults are wrongly laid trays, false
hu, and a table that loses power.
"""

import random
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from broker.event import (
    PLAYERS,
    PROFILE,
    BookedPlay,
    Plan,
    open_event,
    parted_plays,
    read_own_rules,
    read_plan,
    save_event,
)
from broker.i18n import N_
from broker.protocol import SEATS, ScriptedPlay, Seat, TrayMistake
from broker.rules import Profile, RuleError
from broker.sim.demo import Demo, print_standings
from broker.sim.demo_event import REACTION_MS, new_deals, swapped_tiles, write_people
from broker.store import has_started

NAME: Final = "rehearsal"
LONGEST_TITLE: Final = 100
DAY_S: Final = 86_400.0

TRAY_MISTAKE_RATE, FALSE_HU_RATE = 0.1, 0.05
"""The share of plays in which a tray is laid wrongly, and in which somebody declares falsely."""

KINDS: Final = {"discard": 10, "two": 1, "self_drawn": 6, "draw": 3}
"""The relative frequency of each kind of end."""


class Rehearsal(Demo):
    """One event, from the copy to its last play."""

    name = NAME
    longest_s = DAY_S

    def __init__(
        self,
        source: Path,
        folder: Path,
        broker: str,
        seed: int,
        stop: threading.Event,
        *,
        speed: float = 1.0,
        faults: bool = True,
    ) -> None:
        """Check the event. Raises RuleError `copy_inside`, `rehearsal_riichi`, `no_plays`, or BadEvent."""
        super().__init__(folder, broker, seed, stop)
        if folder.resolve().is_relative_to(source.resolve()):
            raise RuleError(
                "copy_inside", N_("The copy would be in the event’s own folder: choose another with --copy")
            )
        self._source, self._speed, self._faults = source, speed, faults
        self._plan = rehearsed_plan(source)
        self.tables = sorted({play.table for play in self._plan.plays})
        self.what = (
            f"REHEARSAL of {source}: {len(self._plan.players)} players, {len(self.tables)} tables, "
            f"{len(parted_plays(self._plan)[0])} plays"
        )
        self._running: ExitStack | None = None

    def _make(self) -> int:
        plan, rng = self._plan, random.Random(self._seed)  # noqa: S311 - a demonstration, no secret
        deals, sets = new_deals(sorted({play.deal for play in plan.plays}))
        save_event(self._folder, plan, deals, sets)
        for file in (PLAYERS, PROFILE):
            if (self._source / file).exists():
                shutil.copyfile(self._source / file, self._folder / file)
        profile = _mcr_rules(self._folder, plan)
        staged: dict[int, list[ScriptedPlay]] = {}
        for play in sorted(plan.plays, key=lambda play: (play.round, play.table)):
            drawn = draw_play(play, profile, rng, faults=self._faults)
            staged.setdefault(play.table, []).append(drawn)
        write_people(self._folder, staged, round(REACTION_MS / self._speed))
        return len(parted_plays(plan)[0])

    def _start(self, running: ExitStack) -> None:
        self._running = running
        super()._start(running)

    def _progress(self, view: dict[str, Any], plays: int) -> str:
        """Return the progress. Once half of the plays are in, the last table loses power."""
        if self._faults and self._running is not None and 2 * view["plays_in"] >= plays:
            running, self._running = self._running, None
            self._cut_power(running)
        return super()._progress(view, plays)

    def _cut_power(self, running: ExitStack) -> None:
        cut = self._children.pop()
        self.report("power", f"{cut.name} loses power and starts again")
        cut.kill()
        config, picture = (self._folder / f"table-{max(self.tables)}.{kind}" for kind in ("toml", "png"))
        self._child(running, cut.name, ["kiosk", str(config), "--picture", str(picture)])

    def _close(self, view: dict[str, Any], plays: int) -> int:
        print_standings(view)
        self.report("scorer", f"all {plays} plays are in: the rehearsal is over, and {self._source} is as it was")
        for stage in self._plan.stages:
            if stage.cut:
                self.report("desk", f"{stage.name}: seat it at {self._url}final, and its tables play on until Ctrl-C")
        return 0


def rehearsed_plan(source: Path) -> Plan:
    """Return the rehearsed plan of an event: all of it except riichi, with a title that marks it as a rehearsal.

    A final seated by rank is played once somebody seats it at the desk. Raises RuleError `rehearsal_riichi`,
    `no_plays`, or BadEvent.
    """
    open_event(source)  # to check it
    plan = read_plan(source)
    _mcr_rules(source, plan)
    if not plan.plays:
        raise RuleError("no_plays", N_("make the movement first: it determines the number of deals"))
    title = f"REHEARSAL · {plan.title}"[:LONGEST_TITLE]
    return replace(plan, name=NAME, title=title, riichi=(), public_address="")


def _mcr_rules(folder: Path, plan: Plan) -> Profile:
    rules = read_own_rules(folder, ()).of_plays(plan.profile)
    if not isinstance(rules, Profile):
        raise RuleError("rehearsal_riichi", N_("riichi sessions cannot be rehearsed: use homologue demo --riichi"))
    return rules


def refuse_started(source: Path) -> None:
    """Raise RuleError `event_started` if a scorer has been started on an event."""
    if has_started(source):
        raise RuleError(
            "event_started",
            N_("A scorer has been started here: to rehearse the event all the same, choose a folder with --copy"),
        )


def draw_play(play: BookedPlay, profile: Profile, rng: random.Random, *, faults: bool) -> ScriptedPlay:
    """Draw at random how a play ends, and what goes wrong in it."""
    (kind,) = rng.choices([*KINDS], [*KINDS.values()])
    if kind == "two" and profile.payments.several_hu.value == "nearest":
        kind = "discard"
    seats: list[Seat] = rng.sample(SEATS, len(SEATS))
    count = {"draw": 0, "two": 2}.get(kind, 1)
    least = profile.payments.minimum.value
    winners = {seat: least + rng.choice((0, 0, 2, 4, 8, 16)) for seat in SEATS if seat in seats[:count]}
    discarder = seats[count] if kind in ("discard", "two") else None
    mistakes = tuple(_tray_mistakes(rng)) if faults else ()
    fines = profile.false_hu.fines.value
    false_hu = {seats[3]: rng.choice(fines)} if faults and fines and rng.random() < FALSE_HU_RATE else {}
    if kind == "draw":
        return ScriptedPlay(play.round, "draw", {}, None, false_hu, mistakes)
    return ScriptedPlay(play.round, "discard" if discarder else "self_drawn", winners, discarder, false_hu, mistakes)


def _tray_mistakes(rng: random.Random) -> Iterator[TrayMistake]:
    if rng.random() < TRAY_MISTAKE_RATE:
        yield swapped_tiles(rng)
