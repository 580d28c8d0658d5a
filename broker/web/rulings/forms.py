"""Parse the form of a ruling into a draft. Pure functions; every mistake is refused with a code.

Players are entered by id, or by as much of the name as identifies one of them.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import ValidationError
from msgspec.structs import replace

from broker.errors import reason
from broker.event import MINUTE_MS
from broker.i18n import N_, search_key
from broker.protocol import (
    AWARD_IMP,
    FINE_IMP,
    LONGEST_REASON,
    SEATS,
    UNREADABLE,
    Adjusted,
    AnyDecision,
    AppealDecided,
    Appealed,
    Award,
    Correct,
    Deadline,
    DealPlayed,
    Discarded,
    FineRuled,
    Fouled,
    PlanChanged,
    Player,
    Refused,
    RiichiEvent,
    Seat,
    SeatsPlayed,
    Substitute,
    TakenOver,
    Undo,
    Void,
    Withdrawn,
)
from broker.rules import Penalty, RiichiProfile, RuleError, Rules, points_paid, score_riichi
from broker.rulings import CountedPlay, PlayKey, RulingDraft
from broker.web import errors, forms

Form = Mapping[str, str]

PLAN_FORM_BYTES: Final = 2**18
"""Maximum size in bytes of a form that carries a whole seating."""

NUMBER: Final = re.compile(r"-?[0-9]{1,9}")

OF_PLAY: Final = ("correct", "adjusted", "void", "award", "fine", "seats_played", "deal_played")
OF_SESSION: Final = ("void",)
"""Rulings on a riichi session that has not begun."""
OF_APPEAL: Final = ("appeal", "appeal_decided")
"""Rulings on another ruling. Only the head arbiter gives the second."""
OF_APART: Final = ("taken_over", "discarded")
"""Rulings on a play with facts that are kept apart."""
OF_EVENT: Final = ("award", "fine", "substitute", "withdrawn", "deadline")
"""Rulings on no play, given by the head arbiter."""


def whole_number(form: Form, field: str) -> int | None:
    """Parse a whole number; return None if the field is empty. Raises Refused `number_unreadable`."""
    text = form.get(field, "").strip().replace("\N{MINUS SIGN}", "-").removeprefix("+")
    if not text:
        return None
    if not NUMBER.fullmatch(text):
        raise Refused("number_unreadable", N_("{text} is not a whole number", text=repr(text[:20])))
    return int(text)


def _deadline(form: Form, now: int) -> Deadline:
    """Return the end of corrections: the one shown in the preview, or a number of minutes from now."""
    if (shown := form.get("at", "")[:16]).isdecimal():
        return Deadline(at=int(shown))
    minutes = whole_number(form, "minutes")
    if minutes is None or minutes < 0:
        raise Refused("deadline_out_of_range", "minutes from now are 0 or more: corrections cannot end in the past")
    return Deadline(at=now + minutes * MINUTE_MS)


PenaltyFor = Callable[[str, str], Penalty]


@dataclass(frozen=True, slots=True)
class PaymentRules:
    """What a play's outcome pays and infractions cost: the event's rules, the dealer, and the penalties."""

    rules: Rules
    dealer: Seat
    penalty: PenaltyFor
    """Returns the present penalty of a player for an infraction."""


def draft_of(
    form: Form, play: CountedPlay | None, payment: PaymentRules, now: int, place: PlayKey | None = None
) -> RulingDraft:
    """Parse a form into a draft. `play`: as it counts now; `place`: that of a riichi session. Raises Refused."""
    decisions: dict[str, Callable[[], AnyDecision]] = {
        "void": Void,
        "adjusted": lambda: Adjusted(gives=_awards(form, play)),
        "award": lambda: Award(gives=_awards(form, play)),
        "fine": lambda: _fine(form, play, payment),
        "appeal": lambda: Appealed(
            ruling=form.get("appeal", ""), players=_appellants(form), exception=bool(form.get("exception"))
        ),
        "appeal_decided": lambda: AppealDecided(
            ruling=form.get("appeal", ""),
            verdict=form.get("verdict", ""),  # type: ignore[arg-type]  # other values are refused in the conversion
            committee=tuple(filter(None, (" ".join(line.split()) for line in form.get("committee", "").splitlines()))),
        ),
        "fouled": lambda: Fouled(groups=table_groups(form.get("groups", ""))),
        "deadline": lambda: _deadline(form, now),
        "substitute": lambda: Substitute(**_absent(form), name=" ".join(form.get("name", "").split())),
        "withdrawn": lambda: Withdrawn(**_absent(form), fault=form.get("fault", "own")),  # type: ignore[arg-type]  # checked below
        "undo": lambda: Undo(ruling=form.get("undo", "")),
    }
    if place is None and play is not None:
        place = play.table, play.round
    if place is not None:
        decisions["taken_over"] = lambda: TakenOver(facts=_facts(form), replaces=form.get("result") or None)
        decisions["discarded"] = lambda: Discarded(facts=_facts(form))
    if play is not None:
        decisions["correct"] = lambda: _correct(form, payment)
        decisions["seats_played"] = lambda: SeatsPlayed(players={seat: form.get(f"seat-{seat}", "") for seat in SEATS})
        decisions["deal_played"] = lambda: DealPlayed(played=whole_number(form, "played") or 0, result=play.result)
    make = decisions.get(form.get("kind", ""))
    if make is None:
        raise Refused("ruling_kind_missing", N_("the form does not name a play, deal or player"))
    table, round_ = place or (None, None)
    return read_draft(form, make(), table=table, round=round_, deal=whole_number(form, "deal"))


def read_draft(form: Form, decision: AnyDecision, **about: int | None) -> RulingDraft:
    """Return a decision with the id, reason and last seen ruling that its form sent. Raises Refused."""
    fields: dict[str, Any] = {"id": form.get("id", ""), "after": form.get("after") or None, "reason": read_reason(form)}
    fields |= {"decision": msgspec.to_builtins(decision), **about}
    try:
        return msgspec.convert(fields, RulingDraft)
    except ValidationError as error:
        raise form_refusal(error) from None


def read_reason(form: Form) -> str:
    """Return the reason. Raises Refused `reason_wrong`."""
    reason = " ".join(form.get("reason", "").split())
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise Refused("reason_wrong", f"a reason has 1 to {LONGEST_REASON} characters")
    return reason


def read_plan_change(form: Form) -> PlanChanged | Undo:
    """Return the new seating that a form carries, or the withdrawal of one. Raises FormMalformed."""
    if form.get("undo"):
        return Undo(ruling=form["undo"])
    try:
        return msgspec.json.decode(form.get("change", ""), type=PlanChanged)
    except UNREADABLE:
        raise errors.FormMalformed("the form does not have the new seating") from None


def fields_to_resend(form: Form) -> dict[str, str]:
    """Return the fields that the preview of a form sends again."""
    return {name: value for name, value in form.items() if name not in {"form", "action", "looked_at", "page"}}


def _facts(form: Form) -> tuple[str, ...]:
    """Return the ids of the facts that a decision names."""
    return tuple(form.get("facts", "").split())


def _absent(form: Form) -> dict[str, Any]:
    """Return the absent player and the first round of the absence."""
    return {"player": form.get("player", "").strip(), "first_round": whole_number(form, "first_round") or 0}


def _correct(form: Form, payment: PaymentRules) -> Correct:
    try:
        correction = (
            _riichi(form, payment, payment.rules) if isinstance(payment.rules, RiichiProfile) else _by_value(form)
        )
        return replace(correction, points=points_paid(correction, payment.dealer, payment.rules))
    except RuleError as error:
        if error.code in ("discarder_missing", "loser_missing"):  # the form asks for the discarder
            raise Refused(error.code, error.text) from error
        raise Refused("impossible_result", error.text) from error


def _by_value(form: Form) -> Correct:
    win, discarder = form.get("win", ""), form.get("discarder") or None
    winners = {seat: value for seat in SEATS if (value := whole_number(form, f"hv-{seat}")) is not None}
    if win not in {"discard", "self_drawn", "draw"} or discarder not in {None, *SEATS}:
        raise Refused("ending_missing", "the form does not say how the play ended")
    replaces = form.get("replaces") or None
    return Correct(replaces=replaces, win=win, winners=winners, discarder=discarder, points={})  # type: ignore[arg-type]  # checked above


def _riichi(form: Form, payment: PaymentRules, rules: RiichiProfile) -> Correct:
    hand = _riichi_hand(form)
    outcome, _ = score_riichi(hand, payment.dealer, rules)
    return Correct(
        replaces=form.get("replaces") or None,
        win=outcome.win,
        winners=dict(outcome.winners),
        discarder=outcome.discarder,
        points={},
        hand=hand,
    )


def _players(form: Form, play: CountedPlay | None) -> dict[str, str]:
    """Return players by the ending of their fields: those in the four seats, or the one who is named."""
    return (
        {str(seat): player for seat, player in play.players.items()}
        if play
        else {"player": form.get("player", "").strip()}
    )


def _awards(form: Form, play: CountedPlay | None) -> dict[str, Any]:
    awards: dict[str, Any] = {}
    for field, player in _players(form, play).items():
        imp, word = whole_number(form, f"imp-{field}"), form.get(f"fault-{field}", "")
        if imp is not None or word:
            awards[player] = word if imp is None else imp
    return awards


def _fine(form: Form, play: CountedPlay | None, payment: PaymentRules) -> FineRuled:
    """Parse an infraction. Values missing from the form come from the rules: for each player, the next penalty."""
    found = {player: whole_number(form, f"fine-{field}") for field, player in _players(form, play).items()}
    named = {player for field, player in _players(form, play).items() if form.get(f"by-{field}") or not play}
    takes = {player: fine or 0 for player, fine in found.items() if fine or player in named}
    infraction, measure = form.get("infraction") or None, form.get("measure", "")
    if takes and not measure and any(takes.values()):
        measure = "fine"
    elif takes and not measure:
        measure, takes = _penalty_by_rules(infraction, takes, payment.penalty)
    return FineRuled(
        takes=takes,
        measure=measure or "fine",  # type: ignore[arg-type]  # other values are refused in the conversion
        infraction=infraction,
        exception=bool(form.get("exception")),
    )


def _penalty_by_rules(infraction: str | None, who: Iterable[str], penalty: PenaltyFor) -> tuple[str, dict[str, int]]:
    if infraction is None:
        raise Refused("nothing_given", "nobody is given or fined any IMP")
    found = {player: penalty(player, infraction) for player in who}
    if len({one.measure for one in found.values()}) > 1:
        raise Refused("penalties_differ", N_("the rules have different penalties for these players: rule on each"))
    for one in found.values():
        if len(one.imps) > 1:
            choices = ", ".join(map(str, one.imps))
            raise Refused("fine_to_choose", N_("the rules leave you the choice: {imps} IMP", imps=choices))
    return next(iter(found.values())).measure, {who: sum(one.imps) for who, one in found.items()}


def _appellants(form: Form) -> tuple[str, ...]:
    return tuple(filter(None, (form.get(field, "").strip() for field in APPELLANTS)))


def table_groups(text: str) -> tuple[tuple[int, ...], ...]:
    """Parse groups of tables, one group per line, such as `1 2 5-9`. Raises Refused `tables_unreadable`."""
    try:
        return tuple(tuple(forms.read_tables(line)) for line in text.splitlines() if line.strip())
    except errors.TablesUnreadable as error:
        raise Refused(error.code, str(error)) from None


OF_A_WIN: Final = ("han", "fu", "yakuman")

RIICHI_KINDS: Final = {"discard": "ron", "self_drawn": "tsumo", "draw": "draw", "abort": "abort"}
"""The kind of a riichi event, by the form's value for the ending of the play."""


def _riichi_hand(form: Form) -> RiichiEvent:
    """Parse a riichi hand. Raises Refused `ending_missing`, `hand_value_out_of_range`, `bad_ruling`."""
    kind = RIICHI_KINDS.get(form.get("win", ""))
    if kind is None:
        raise Refused("ending_missing", "the form does not say how the play ended")
    fields: dict[str, Any] = {"kind": kind}
    if kind in ("ron", "tsumo"):
        fields |= {"wins": _wins(form), "loser": form.get("discarder") or None}
    if kind == "tsumo":  # a ron has a discarder; the field may still be filled in from before
        fields["kan_from"] = form.get("kan_from") or None
    if kind == "draw":
        fields |= {what: [seat for seat in SEATS if form.get(f"{what}-{seat}")] for what in ("tenpai", "nagashi")}
    if kind == "abort":
        fields["reason"] = form.get("abort", "")
    try:
        return msgspec.convert(fields, RiichiEvent)
    except ValidationError as error:
        raise form_refusal(error) from None


def _wins(form: Form) -> dict[str, Any]:
    wins: dict[str, Any] = {}
    for seat in SEATS:
        values = {what: value for what in OF_A_WIN if (value := whole_number(form, f"{what}-{seat}")) is not None}
        if values:
            wins[seat] = values | {"responsible": form.get(f"responsible-{seat}") or None}
    return wins


APPELLANTS: Final = tuple(f"appellant-{at}" for at in range(4))
PLAYER_FIELDS: Final = ("player", *(f"seat-{seat}" for seat in SEATS), *APPELLANTS)
"""Form fields that name a player."""

NAME_WORD: Final = re.compile(r"\w+")
MOST_NAMED: Final = 6
"""Maximum number of candidates listed for an ambiguous name."""


def with_player_ids(form: Form, players: Mapping[str, Player]) -> dict[str, str]:
    """Return a form with players replaced by their ids. Raises Refused `nobody_of_event`, `player_ambiguous`."""
    return {
        name: player_of(value, players) if name in PLAYER_FIELDS and value.strip() else value
        for name, value in form.items()
    }


def player_of(written: str, players: Mapping[str, Player]) -> str:
    """Return the id of a player given by id, name or words of the name. Only letters and digits count.

    Raises Refused `nobody_of_event`, `player_ambiguous`.
    """
    found = matching_players(written, players)
    if not found:
        raise Refused("nobody_of_event", N_("{who} is not in this event", who=written.strip()[:50]))
    if len(found) > 1:
        listed = [f"{one.name} ({one.id})" for one in found[:MOST_NAMED]] + ["…"] * (len(found) > MOST_NAMED)
        raise Refused("player_ambiguous", N_("did you mean {who}?", who=", ".join(listed)))
    return found[0].id


def matching_players(written: str, players: Mapping[str, Player]) -> list[Player]:
    """Return the players who match: by id, else by the whole name, else by words of the name."""
    if written.strip() in players:
        return [players[written.strip()]]
    words = _name_words(written)
    named = [one for one in players.values() if words and words <= _name_words(one.name)]
    return [one for one in named if words == _name_words(one.name)] or named


def _name_words(name: str) -> frozenset[str]:
    """Return the words of a name without accents and in lower case."""
    return frozenset(NAME_WORD.findall(search_key(name)))


class FormProblem(NamedTuple):
    """An invalid field of a ruling: the code, the place that msgspec names, and the text of the refusal."""

    code: str
    path: str
    text: str


FORM_PROBLEMS: Final = (
    FormProblem("player_missing", "key` in `$.decision.gives", "nobody is named"),
    FormProblem("player_missing", "key` in `$.decision.takes", "nobody is named"),
    FormProblem("player_missing", "$.decision.player", "nobody is named"),
    FormProblem(
        "imp_out_of_range",
        "$.decision.gives[",
        N_("IMPs must be from {least} to {most}", least=-AWARD_IMP, most=AWARD_IMP),
    ),
    FormProblem("imp_out_of_range", "$.decision.takes[", N_("a fine must be from 1 to {most} IMP", most=FINE_IMP)),
    FormProblem("verdict_missing", "$.decision.verdict", "the form does not say what was decided"),
    FormProblem("committee_missing", "$.decision.committee", "nobody of the committee is named"),
    FormProblem("nothing_given", "$.decision.gives`", "nobody is given or fined any IMP"),
    FormProblem("nothing_given", "$.decision.takes`", "nobody is given or fined any IMP"),
    FormProblem("deadline_out_of_range", "$.decision.at`", "the minutes are too many"),
    FormProblem("substitute_unnamed", "$.decision.name`", "a name has 1 to 100 characters"),
    FormProblem("round_missing", "$.decision.first_round`", "the form does not say from which round"),
    FormProblem("unknown_deal", "$.decision.played`", N_("enter the deal that was played")),
    FormProblem(
        "groups_wrong", "$.decision.groups", N_("groups may only list tables of this event; at most 50 groups")
    ),
    FormProblem("hand_value_out_of_range", "$.decision.winners[...]`", ""),
    *(FormProblem("hand_value_out_of_range", f"$.wins[...]{part}`", "") for part in ("", ".han", ".fu", ".yakuman")),
    FormProblem("ending_missing", "$.reason`", "the form does not say why the hand was aborted"),
)
"""The first match is used. A place is the path that msgspec writes after `at`, the only detail it gives."""


def form_refusal(error: ValidationError) -> Refused:
    """Return the refusal for an invalid form: `bad_ruling` for input that no form of the desk sends."""
    text = str(error)[:300]
    path = text.rpartition(" - at `")[2]
    found = next((one for one in FORM_PROBLEMS if path.startswith(one.path)), None)
    return Refused(found.code, found.text) if found else Refused("bad_ruling", reason(error))
