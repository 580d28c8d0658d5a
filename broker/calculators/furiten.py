"""`homologue furiten`: whether a player may win on a discard."""

from typing import Any, Final, Literal

import click
from msgspec import Struct

from broker.calculators.riichi_events import Number
from broker.calculators.stream import answer_each
from broker.rules.errors import RuleError
from broker.rules.riichi.furiten import Seen, furiten, may_ron
from broker.rules.riichi.session.state import known
from broker.rules.riichi.waits import kind_of, orphans_wait, waits


class SeenLine(Struct, forbid_unknown_fields=True):
    """A discard, or a tile made a kan of: `added` to a pon (yes means that), or of a `concealed` one."""

    player: Number
    tile: str
    riichi: bool = False
    kan: bool | Literal["added", "concealed"] = False
    called: bool = False
    """Said by records; a discard that was claimed counts as any other."""


_KAN: Final[dict[bool | str, Literal["", "added", "concealed"]]] = {
    False: "",
    True: "added",
    "added": "added",
    "concealed": "concealed",
}


class MeldLine(Struct, forbid_unknown_fields=True):
    """A set laid down, as `homologue riichi` has it."""

    kind: str
    tiles: tuple[str, ...]
    open: bool = True


class Question(Struct, forbid_unknown_fields=True):
    """A player's wait, or the hand that tells it, and the discards of all in order."""

    player: Number
    discards: tuple[SeenLine, ...] = ()
    wait: tuple[str, ...] | None = None
    concealed: tuple[str, ...] | None = None
    melds: tuple[MeldLine, ...] = ()
    tile: str | None = None


def _answer(question: Question) -> dict[str, Any]:
    player, wait = known(question.player), _wait(question)
    seen = [Seen(known(one.player), kind_of(one.tile), one.riichi, _KAN[one.kan]) for one in question.discards]
    orphans = _is_of_orphans(question)
    why = furiten(player, wait, seen, orphans=orphans)
    if question.tile is None:
        return {"may_ron": bool(wait) and not why, "furiten": why, "wait": wait}
    return {"may_ron": may_ron(player, wait, seen, question.tile, orphans=orphans), "furiten": why, "wait": wait}


def _is_of_orphans(question: Question) -> bool:
    """Say whether the hand waits for thirteen orphans, which a concealed kan passes by too; known from its tiles."""
    return bool(question.concealed) and not question.melds and orphans_wait(question.concealed or ())


def _wait(question: Question) -> tuple[str, ...]:
    if (question.wait is None) == (question.concealed is None):
        raise RuleError("wait_or_hand", "either the wait or the concealed tiles are needed")
    if question.wait is not None:
        return tuple(map(kind_of, question.wait))
    return waits(question.concealed or (), [meld.tiles for meld in question.melds])


@click.command("furiten", short_help="Riichi: whether a player may win on a discard.")
@click.option(
    "--json", "as_json", is_flag=True, help="JSON lines on standard input, one answer a line (the only form)."
)
def furiten_command(as_json: bool) -> None:  # noqa: ARG001, FBT001 - the flag names the contract; there is no other form yet
    """Riichi: whether a player may win on a discard, as far as furiten goes.

    Players are 0 to 3 in turn order. `discards`: those of all players in order, claimed ones too, but for the `tile`
    that is asked about; `kan` is a tile `added` to a pon, which could have been robbed, or of a `concealed` kan, which
    thirteen orphans could have. In place of `wait`: `concealed` (13 tiles, three less for each of `melds`, which are as
    in `homologue riichi`). The answer names each reason: `own_discard`, `same_turn`, `riichi`.

    \b
    {"player": 1, "wait": ["1m", "4m"], "tile": "4m", "discards": [{"player": 0, "tile": "9p"},
     {"player": 1, "tile": "3z", "riichi": true}, {"player": 2, "tile": "1m"}, {"player": 1, "tile": "2s"}]}
    """  # noqa: D301 - click reads the \b
    answer_each(Question, _answer)
