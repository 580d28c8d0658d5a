"""The register of infractions, the penalty for the next one, and appeals against rulings. Pure.

An infraction is a ruling of its own, given at the desk or at a table, or the fine for a false hu that came with a
result. A player who repeats one gets the next step of the profile's catalogue. A fine that is not in the catalogue is
accepted only if the arbiter has confirmed it.
"""

from collections.abc import Iterator
from itertools import takewhile

from msgspec import Struct

from broker.event import MINUTE_MS
from broker.i18n import N_
from broker.protocol import APPEAL_DECISIONS, AppealDecided, Appealed, CheckedIn, FineRuled, Refused
from broker.rules.infractions import FALSE_HU, Measure, Penalty, appeal_minutes, fines_of, in_imp, infractions_of
from broker.rulings.model import CountedPlay, PlayKey, RulingEntry, appeal_subject, result_of
from broker.scorer import EventState


class RegisterEntry(Struct, frozen=True, kw_only=True):
    """One infraction of one player."""

    player: str
    infraction: str | None
    """The id in the profile's catalogue; None for a fine without a named infraction."""
    measure: Measure
    imp: int
    reason: str
    author: str | None
    at: int
    """ms since 1970; for a fine that came with a result, when the result was entered."""
    play: PlayKey | None
    ruling: str | None
    """The id of the ruling; None for a fine that came with a result."""


def register(state: EventState) -> list[RegisterEntry]:
    """Return the infractions that count, oldest first."""
    found = [*_ruled(state), *_fines_of_results(state)]
    return sorted(found, key=lambda one: (one.at, one.player))


def _ruled(state: EventState) -> Iterator[RegisterEntry]:
    for entry in state.book.entries.values():
        decision = entry.decision
        if isinstance(decision, FineRuled) and state.book.counts(entry.id):
            for player, imp in decision.takes.items():
                yield RegisterEntry(
                    player=player,
                    infraction=decision.infraction or (FALSE_HU if entry.at_table else None),
                    measure=decision.measure,
                    imp=imp,
                    reason=entry.reason,
                    author=entry.author,
                    at=entry.at,
                    play=entry.play,
                    ruling=entry.id,
                )


def _fines_of_results(state: EventState) -> Iterator[RegisterEntry]:
    """Yield the fines that came with the outcomes that count, from tables and sheets."""
    for key in sorted(state.touched()):
        play, message = state.play(key), state.results.get(key)
        sheet = state.book.entries.get(play.source or "")
        fined = {} if message is None else result_of(message).fines
        seats = {player: seat for seat, player in play.players.items()}
        for player, imp in play.outcome_fines.items():
            fine = fined.get(seats[player]) if player in seats else None
            yield RegisterEntry(
                player=player,
                infraction=FALSE_HU,
                measure="fine",
                imp=imp,
                reason=fine.reason if fine and fine.author else "",  # a table's own fine has a code only
                author=fine.author if fine else sheet.author if sheet else None,
                at=sheet.at if sheet else message.at if message else 0,
                play=key,
                ruling=None,
            )


def penalty_for(state: EventState, player: str, infraction: str, ruling: str = "") -> Penalty:
    """Return what an infraction costs a player now, in IMPs. Raises Refused `unknown_infraction`.

    `ruling`: the ruling by which it is given. If that is already in the register, return what it cost then.
    """
    known = infractions_of(state.profile)
    if infraction not in known:
        raise Refused("unknown_infraction", N_("the rules have no infraction {name}", name=infraction))
    before = takewhile(lambda one: one.ruling != ruling, register(state))
    earlier = sum((one.player, one.infraction) == (player, infraction) for one in before)
    return in_imp(state.profile, known[infraction].penalty(earlier))


def check_fine(state: EventState, decision: FineRuled, play: CountedPlay | None) -> None:
    """Refuse invalid penalties: `unknown_infraction`, `penalty_wrong`, `fine_not_in_profile`, `dead_hand_won`."""
    if decision.infraction is not None and decision.infraction not in infractions_of(state.profile):
        raise Refused("unknown_infraction", N_("the rules have no infraction {name}", name=decision.infraction))
    imps = set(decision.takes.values())
    if (decision.measure == "warning" and imps != {0}) or (decision.measure == "fine" and 0 in imps):
        raise Refused("penalty_wrong", N_("a warning costs no IMP, and a fine at least one"))
    if decision.measure == "dead_hand" and play is None:
        raise Refused("penalty_wrong", N_("a dead hand is ruled on a play"))
    unlisted = sorted(imps - {0} - fines_of(state.profile, decision.infraction))
    if unlisted and not decision.exception:
        raise Refused("fine_not_in_profile", N_("the rules have no fine of {imp} IMP for this", imp=unlisted[0]))
    if decision.measure == "dead_hand" and play and (won := _winners(play) & decision.takes.keys()):
        raise Refused(
            "dead_hand_won",
            N_("{who} has won this play: first correct its result", who=state.event.name_of(next(iter(won)))),
        )


def _winners(play: CountedPlay) -> set[str]:
    return {play.players[seat] for seat in play.winners} if play.points is not None else set()


def dead_hands_that_won(state: EventState) -> list[PlayKey]:
    """Return the plays won by a player whose hand was ruled dead, by a later result or a correction."""
    dead: dict[PlayKey, set[str]] = {}
    for one in _ruled(state):
        if one.measure == "dead_hand" and one.play in state.event.bookings:
            dead.setdefault(one.play, set()).add(one.player)
    return sorted(key for key, players in dead.items() if _winners(state.play(key)) & players)


class Appeal(Struct, frozen=True):
    """An appeal that counts, the ruling appealed against, and the committee's decision, if any."""

    entry: RulingEntry
    against: RulingEntry
    players: tuple[str, ...]
    until: int
    """The end of the time for the appeal, ms since 1970."""
    decided: RulingEntry | None
    in_force: bool
    """Whether the ruling appealed against counts."""

    @property
    def verdict(self) -> str | None:
        """The committee's verdict, if there is one."""
        decision = self.decided.decision if self.decided else None
        return decision.verdict if isinstance(decision, AppealDecided) else None

    @property
    def committee(self) -> tuple[str, ...]:
        """The members of the committee that decided."""
        decision = self.decided.decision if self.decided else None
        return decision.committee if isinstance(decision, AppealDecided) else ()

    @property
    def is_open(self) -> bool:
        """Whether the committee has to decide, or has changed a ruling that still counts."""
        return self.verdict is None or (self.verdict == "changed" and self.in_force)


def appeal_until(state: EventState, entry: RulingEntry) -> int:
    """Return the end of the time for an appeal against a ruling, ms since 1970."""
    return entry.at + appeal_minutes(state.profile).value * MINUTE_MS


def appeals(state: EventState) -> list[Appeal]:
    """Return the appeals that count, oldest first."""
    found, book = [], state.book
    for entry in book.entries.values():
        decision = entry.decision
        if isinstance(decision, Appealed) and book.counts(entry.id) and decision.ruling in book.entries:
            rulings, against = book.of(appeal_subject(decision.ruling)), book.entries[decision.ruling]
            decided = next((one for one in reversed(rulings) if isinstance(one.decision, AppealDecided)), None)
            until, in_force = appeal_until(state, against), book.counts(against.id)
            found.append(Appeal(entry, against, decision.players, until, decided, in_force))
    return found


def check_appeal(state: EventState, decision: Appealed | AppealDecided, now: int) -> None:
    """Refuse an appeal without a ruling, a second or a late one, and a decision without an appeal.

    The codes are `nothing_to_appeal`, `appealed_already`, `appeal_late` and `no_appeal`.
    """
    book, against = state.book, state.book.entries.get(decision.ruling)
    lodged, decided = (
        any(isinstance(one.decision, kind) for one in book.of(appeal_subject(decision.ruling)))
        for kind in APPEAL_DECISIONS
    )
    if isinstance(decision, AppealDecided):
        if not lodged or decided:
            raise Refused("no_appeal", N_("there is no appeal to decide against this ruling"))
        return
    if against is None or isinstance(against.decision, (*APPEAL_DECISIONS, CheckedIn)) or not book.counts(against.id):
        raise Refused("nothing_to_appeal", N_("there is no such ruling, or it no longer counts"))
    if lodged:
        raise Refused("appealed_already", N_("there is an appeal against this ruling already"))
    if now > appeal_until(state, against) and not decision.exception:
        minutes = appeal_minutes(state.profile).value
        raise Refused("appeal_late", N_("the rules give {minutes} minutes for an appeal", minutes=minutes))
