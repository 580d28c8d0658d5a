"""Measure how much of a play pictures of its rivers prove: `python -m tests.benchmarks.rivers [PLAYS] [--serials]`.

Simulated plays are played, each river and each hand with its melds is drawn and read, and the play is reconstructed.
Counted are plays fully proved, steps proved and steps wrong, with gaps for claimed tiles and without. `--serials`:
without pictures, with everything read, to measure the search alone.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from broker.protocol import SEATS, LaidSeat, Seat
from broker.rules import RuleError
from broker.rules.mcr import play_from_rivers
from broker.sim.laid import LaidTiles, laid_play
from tests.broker.rules.mcr.test_play_from_rivers import wrong_steps
from tests.broker.sim.playing import dealt, played
from tests.vision.river_pictures import hand_picture, river_picture
from vision.errors import VisionError
from vision.reader import read_picture
from vision.rivers import read_hand, read_river


def photographed(play: LaidTiles, seed: int, *, gaps: bool) -> LaidTiles:
    """Return the play as its pictures show it."""
    laid: dict[Seat, LaidSeat] = {}
    for at, seat in enumerate(SEATS):
        one = play.laid[seat]
        groups = (one.hand or (), *one.melds)
        river, hand = (
            river_picture([serial or 0 for serial in one.river], 8 * seed + at),
            hand_picture([[serial or 0 for serial in group] for group in groups], 8 * seed + 4 + at),
        )
        found = read_river(river, read_picture(river, close=False).reads)
        held = read_hand(hand, read_picture(hand, close=False).reads)
        melds, winning = held.melds, () if held.winning is None else (held.winning,)
        laid[seat] = LaidSeat(found.serials, melds, (*held.hand, *winning), gaps and found.gaps)
    return play._replace(laid=laid)


def misread(play: LaidTiles, read: LaidTiles) -> Counter[str]:
    """Count the tiles of rivers by how they were read."""
    counts: Counter[str] = Counter()
    for seat in SEATS:
        true, seen = play.laid[seat].river, read.laid[seat].river
        counts["tiles"] += len(true)
        counts["unread"] += seen.count(None)
        counts["other"] += (
            len(true) != len(seen) or sum(two not in (one, None) for one, two in zip(true, seen, strict=True)) or 0
        )
    return counts


def measure(plays: int, *, gaps: bool, pictures: bool) -> Iterator[str]:
    """Reconstruct a number of plays, and print the results."""
    steps: Counter[str] = Counter()
    whole, orders, took, longest = 0, list[int](), 0.0, 0.0
    for seed in range(plays):
        simulated = played(seed)
        play = laid_play(dealt(seed), simulated.actions, simulated.outcome, seed, gaps=gaps)
        try:
            read = photographed(play, seed, gaps=gaps) if pictures else play
            if pictures:
                steps.update(misread(play, read))
            began = time.process_time()
            found = play_from_rivers(play.deal, play.order, read.laid, play.ending)
        except (RuleError, VisionError) as refused:
            steps["refused"] += 1
            yield f"play {seed}: {refused.code}: {refused}"
            continue
        spent = time.process_time() - began
        took, longest = took + spent, max(longest, spent)
        whole += found.proved
        orders.append(found.plays)
        steps.update(step.certainty for step in found.steps)
        steps["wrong"] += len(wrong_steps(found, play))
    told = {kind: steps[kind] for kind in ("tiles", "unread", "other") if pictures}
    counts = ", ".join(f"{count} {kind}" for kind, count in told.items())
    proved, all_steps = steps["proved"], sum(steps[kind] for kind in ("proved", "likely", "ambiguous"))
    yield f"{'with' if gaps else 'without'} gaps: {plays} plays, {whole} fully proved, {steps['refused']} refused" + (
        f"; river tiles: {counts}" if counts else ""
    )
    yield (
        f"  steps: {all_steps}, proved {proved / max(all_steps, 1):.1%}, likely {steps['likely']}, "
        f"ambiguous {steps['ambiguous']}, wrong {steps['wrong']}"
    )
    yield f"  orders that fit, median: {sorted(orders)[len(orders) // 2] if orders else 0}"
    yield f"  search: {took / max(plays, 1):.3f} s of processor time a play, {longest:.3f} s at most"


def main() -> None:
    """Measure both ways."""
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    pictures = "--serials" not in sys.argv
    for line in chain.from_iterable(
        measure(numbers[0] if numbers else 20, gaps=gaps, pictures=pictures) for gaps in (True, False)
    ):
        print(line, flush=True)


if __name__ == "__main__":
    main()
