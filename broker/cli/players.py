"""`homologue event checkin`, `players`, `stage` and `final`: rulings that are made without a desk."""

import os
import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, TypeVar

import click

from broker.cli import options
from broker.cli.people import COMMAND_ACTOR, note_command
from broker.console import json_lines, say
from broker.errors import RuleError
from broker.event import Event, open_event
from broker.event.structure import for_seconds, seeded
from broker.i18n import N_, search_key
from broker.protocol import AnyDecision, CheckedIn, FinalDeclared, PlanChanged, Undo, wall_clock_ms
from broker.rulings import WHO_PLAYS, RulingAuthor, RulingDraft, event_subject, plan_changes
from broker.rulings.final import draft_stage, next_stage, open_matters, qualified
from broker.rulings.plan_draft import PlanCost, PlanWishes, draft_change, plan_cost, plan_facts
from broker.rulings.validate import check_plan_change, planned_after
from broker.scorer.service import Scorer
from broker.store import STORE, has_started, open_journal
from broker.web.services import RULING_NOTED

Text = TypeVar("Text", str, tuple[str, ...])

AUTHOR: Final = RulingAuthor(COMMAND_ACTOR.who, COMMAND_ACTOR.who, "organiser")
HEAD: Final = RulingAuthor(COMMAND_ACTOR.who, COMMAND_ACTOR.who, "head_arbiter")


@contextmanager
def _scorer_of(folder: Path) -> Iterator[Scorer]:
    """Open a started event whose scorer is not running. Raises RuleError `event_not_started`, and StoreError."""
    if not has_started(folder):
        text = N_(
            "no scorer has been started here ({store}): change the list of players and the movement instead",
            store=STORE,
        )
        raise RuleError("event_not_started", text)
    os.umask(0o077)
    event, stop = open_event(folder), threading.Event()
    stop.set()
    with closing(open_journal(folder, event.name)) as journal:
        scorer = Scorer(event, journal, folder, wall_clock_ms)
        yield scorer
        scorer.run(stop)


def _publish(scorer: Scorer, folder: Path, decision: AnyDecision, reason: str, author: RulingAuthor = AUTHOR) -> str:
    """Publish a ruling, note it in the audit log, and return its id."""
    book = scorer.state.book
    undone = book.entries.get(decision.ruling) if isinstance(decision, Undo) else None
    about = book.subject(undone) if undone else event_subject(decision) or ""
    draft = RulingDraft(
        id=f"command-{uuid.uuid4().hex}", after=scorer.state.last_message_id(about), decision=decision, reason=reason
    )
    ruling = scorer.rulings.give(draft, author).id
    note_command(folder, RULING_NOTED, ruling, reason)
    return ruling


def player_named(event: Event, text: str) -> str:
    """Return the id of the player with this id, or with this unambiguous (part of a) name. Raises RuleError."""
    if text in event.players:
        return text
    names = {one.id: search_key(one.name) for one in event.players.values()}
    found = [id_ for id_, name in names.items() if name == search_key(text)]
    found = found or [id_ for id_, name in names.items() if search_key(text) in name]
    if len(found) != 1:
        raise RuleError(
            "nobody_of_event",
            N_("{who}: {count} players have this name; use the id", who=text, count=len(found))
            if found
            else N_("{who} is not in this event", who=text),
        )
    return found[0]


def _not_blank(_ctx: click.Context, _param: click.Parameter, value: Text) -> Text:
    if not all(word.strip() for word in ([value] if isinstance(value, str) else value)):
        raise click.BadParameter("it must not be empty")
    return value


REASON: Final = click.option("--reason", required=True, callback=_not_blank, help="Reason, shown in the history.")


@click.command("checkin", short_help="Check players in, and list who is present.")
@options.folder_argument
@click.argument("players", nargs=-1)
@click.option("--absent", "mark", flag_value="absent", help="Mark them as absent.")
@click.option("--undo", "mark", flag_value="unknown", help="Undo their check-in or absence.")
@json_lines
def event_checkin(folder: Path, players: tuple[str, ...], mark: str | None) -> None:
    """Check PLAYERS in, by id or by an unambiguous part of the name. Without PLAYERS, list who is present.

    The scorer must not be running; while it is, use the page Check-in of its desk.

    \b
    homologue event checkin my-cup p07 lefevre
    homologue event checkin my-cup p12 --absent
    """
    present = {None: True, "absent": False, "unknown": None}[mark]
    with _scorer_of(folder) as scorer:
        event = scorer.state.event
        for id_ in [player_named(event, one) for one in players]:
            if scorer.state.checked_in.get(id_) is not present:
                _publish(scorer, folder, CheckedIn(player=id_, present=present), "check-in")
        seen = scorer.state.checked_in
        for one in event.players.values():
            if not players or one.id in {player_named(event, said) for said in players}:
                state = {True: "present", False: "absent", None: "not yet seen"}[seen.get(one.id)]
                say(f"{one.id} {one.name}: {state}", player=one.id, name=one.name, present=seen.get(one.id))


@click.command("players", short_help="Add, remove or replace players once the scorer has been started.")
@options.folder_argument
@click.option("--leaves", multiple=True, help="Player who leaves or did not come (id or name); may be repeated.")
@click.option("--enters", multiple=True, callback=_not_blank, help="Name of a new player; may be repeated.")
@click.option("--returns", multiple=True, help="Id of a player who left and plays after all; may be repeated.")
@click.option("--replaces", nargs=2, multiple=True, metavar="GONE NAME", help="Give a player's seats to a new one.")
@click.option("--without-standing", is_flag=True, help="The new players are guests or fillers, and are not ranked.")
@click.option("--from-round", "first_round", type=click.IntRange(1), default=1, help="First round that changes.")
@click.option("--undo", is_flag=True, help="Take the last change back.")
@REASON
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_lines
def event_players(  # noqa: PLR0913 - one parameter per option
    folder: Path,
    *,
    leaves: Sequence[str],
    enters: Sequence[str],
    returns: Sequence[str],
    replaces: Sequence[tuple[str, str]],
    without_standing: bool,
    first_round: int,
    undo: bool,
    reason: str,
    yes: bool,
) -> None:
    """Change who plays. Plays that no table has begun are reseated; you see the effects before anything is changed.

    The scorer must not be running; while it is, use the page Players of its desk.

    \b
    homologue event players my-cup --leaves p07 --enters "Ada Lovelace" --reason "p07 did not come"
    homologue event players my-cup --undo --reason "p07 is here"
    """
    with _scorer_of(folder) as scorer:
        room = scorer.state
        facts = plan_facts(room)
        decision: PlanChanged | Undo
        if undo:
            changes = [one for one in room.book.of(WHO_PLAYS) if isinstance(one.decision, PlanChanged)]
            if not changes:
                raise RuleError("nothing_to_undo", "there is no change to take back")
            decision = Undo(ruling=changes[-1].id)
        else:
            replaced = {player_named(room.event, gone): name for gone, name in replaces}
            gone = tuple(player_named(room.event, one) for one in leaves)
            wishes = PlanWishes(gone, tuple(enters), tuple(returns), replaced, first_round, without_standing)
            decision = draft_change(facts, wishes, seeded(), for_seconds)
        check_plan_change(room, decision)
        cost = plan_cost(facts, planned_after(room, decision))
        if not yes:
            for line in _cost_lines(cost):
                click.echo(line, err=True)
            click.confirm("Publish the new seating?", abort=True, err=True)
        ruling = _publish(scorer, folder, decision, reason)
        count = len({one.player.id for one in cost.moved})
        say(f"players who change seats: {count}", ruling=ruling, moved=count, empty=cost.empty, plays=cost.plays)


def _cost_lines(cost: PlanCost) -> Iterable[str]:
    """Describe the effects of a change, a line each."""
    for one in cost.moved:
        before, after = (f"table {at[0]} {at[1]}" if at else "sits out" for at in (one.before, one.after))
        yield f"round {one.round}: {one.player.name}: {before} -> {after}"
    for round_, tables in cost.empty.items():
        yield f"round {round_}: empty tables: {', '.join(map(str, tables))}"
    for round_, waiting in cost.sits_out.items():
        yield f"round {round_}: sits out: {', '.join(one.name for one in waiting)}"
    for first, second, before_, now in cost.again:
        yield f"{first.name} and {second.name} meet {now} times instead of {before_}"


@click.command("stage", short_help="Seat the next stage from the standings.")
@options.folder_argument
@click.option("--without", multiple=True, help="Player or team that does not qualify; may be repeated.")
@click.option("--undo", is_flag=True, help="Take the list of qualifiers back.")
@REASON
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_lines
def event_stage(folder: Path, *, without: Sequence[str], undo: bool, reason: str, yes: bool) -> None:
    """Decide, as the head arbiter, who qualifies for the next stage. You see the list before it is published.

    The scorer must not be running; while it is, use the page Stages and final of its desk.

    \b
    homologue event stage my-cup --reason "end of the qualification"
    homologue event stage my-cup --without p07 --reason "p07 lost the tie by lot"
    """
    with _scorer_of(folder) as scorer:
        room, stage = scorer.state, next_stage(scorer.state)
        decision: PlanChanged | Undo
        if undo:
            seated = [entry for entry, change in plan_changes(room.book) if change.stage]
            if not seated:
                raise RuleError("nothing_to_undo", "no stage was seated")
            decision, qualifiers = Undo(ruling=seated[-1].id), []
        elif stage is None:
            raise RuleError("unknown_stage", "no stage is waiting to be seated")
        else:
            out = [one if one in room.planned.plan.teams else player_named(room.event, one) for one in without]
            decision, qualifiers = draft_stage(room, stage, out), qualified(room, stage, out)
        for one in qualifiers:
            about = f"{one.section} " if one.section else ""
            name = room.event.name_of(one.name)
            click.echo(f"{one.rank}. {name} ({about}{one.place}., {float(one.imp):+g} IMP)", err=True)
        if not yes:
            click.confirm("Publish the qualifiers?", abort=True, err=True)
        ruling = _publish(scorer, folder, decision, reason, HEAD)
        rows = [{"rank": one.rank, "name": one.name} for one in qualifiers]
        say("taken back" if undo else f"{len(qualifiers)} qualify", ruling=ruling, going_on=rows)


@click.command("final", short_help="Declare the standings final.")
@options.folder_argument
@click.option("--undo", is_flag=True, help="Take the declaration back.")
@REASON
@json_lines
def event_final(folder: Path, *, undo: bool, reason: str) -> None:
    """Declare the standings final, as the head arbiter. Nothing is declared while something is still open.

    The scorer must not be running; while it is, use the page Stages and final of its desk.

    \b
    homologue event final my-cup --reason "all is settled"
    """
    with _scorer_of(folder) as scorer:
        room = scorer.state
        declared, open_ = room.book.declared, open_matters(room, wall_clock_ms())
        if undo and declared is None:
            raise RuleError("nothing_to_undo", "the standings are not declared final")
        if not undo:
            for what, count in open_._asdict().items():
                if count:
                    where = (
                        "; ".join(f"table {at}, round {round_}" for at, round_ in count)
                        if isinstance(count, tuple)
                        else count
                    )
                    click.echo(f"open: {what.replace('_', ' ')}: {where}", err=True)
        decision = Undo(ruling=declared.id) if undo and declared else FinalDeclared()
        ruling = _publish(scorer, folder, decision, reason, HEAD)
        say("provisional again" if undo else "declared final", ruling=ruling, final=room.final)
