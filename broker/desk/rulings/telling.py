"""A ruling in words: what was decided, how it was before and how it is now. Pure.

The look before publishing, the history and the form that takes a ruling back all say it in these words.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from markupsafe import Markup

from broker.contract.plans import Player
from broker.contract.rulings import (
    Adjusted,
    AnyDecision,
    Award,
    Deadline,
    FineRuled,
    Fouled,
    Given,
    PlayerCorrected,
    SessionsCorrected,
    Substitute,
    TitleCorrected,
    Withdrawn,
)
from broker.contract.words import SEATS, Seat
from broker.desk.catalogue import Catalogue
from broker.desk.page import signed, time_tag
from broker.desk.rulings.riichi_hand import KINDS
from broker.rules.profile import Awards
from broker.scorer.rulings.changes import Change, Groups, Held
from broker.scorer.rulings.entry import Entry
from broker.scorer.rulings.laying import Laid, imp_of

ENDINGS: Final = {kind: ending for ending, kind in KINDS.items()}
DOT: Final = Markup(" · ")
NOTHING: Final = Markup()
PART: Final = Markup("<span>{}</span>")
BETWEEN: Final = Markup("<i> · </i>")


class Told(NamedTuple):
    """A ruling as it is read. `was` and `now` differ, or there is neither."""

    what: Markup
    was: Markup
    now: Markup


class Telling:
    """Tells of rulings in one language."""

    def __init__(self, words: Catalogue, players: Mapping[str, Player], awards: Awards) -> None:
        self._words, self._say, self._players, self._awards = words, words.say, players, awards

    def of(self, change: Change) -> Told:
        """Say what a ruling is, and what it changes of what it is about."""
        what, before, after = self._what(change), change.before, change.after
        if before is None:
            return Told(what, self._say("told_unknown"), self._play(after.play, ("deal", "outcome")))
        aspects = _aspects(before.play, after.play)
        if before == after or (after.play and not aspects):
            beside = change.root.play is None and isinstance(change.root.decision, Award | FineRuled)
            same = "told_same_person" if isinstance(change.root.decision, PlayerCorrected) else "told_same"
            return Told(what if beside else DOT.join(filter(None, (what, self._say(same)))), NOTHING, NOTHING)
        return Told(what, *(self._held(change.root.decision, held, aspects) for held in (before, after)))

    def name(self, player: str) -> str:
        """Give a player's name; of who is not in the event, the id."""
        return self._players[player].name if player in self._players else player

    # ---- what was decided -------------------------------------------------------------------

    def _what(self, change: Change) -> Markup:
        if change.undoes is not None:
            undone = change.undoes
            kind, what = self._say(f"kind_{undone.kind}"), self._decided(undone)
            return DOT.join(part for part in (kind, what, Markup.escape(undone.reason)) if part)
        return self._decided(change.entry)

    def _decided(self, entry: Entry) -> Markup:
        match said := entry.decision:
            case Adjusted() | Award():
                return self._list((one, self._gift(gift)) for one, gift in said.gives.items())
            case FineRuled():
                return self._list((one, self._imp(-fine)) for one, fine in said.takes.items())
            case Substitute():
                player = self.name(said.player)
                key = "back_line" if entry.back else "substitute_line"
                return self._say(key, player=player, name=said.name, round=said.first_round)
            case Withdrawn():
                values = {"player": self.name(said.player), "round": said.first_round}
                others = self._imp(imp_of("others", self._awards))
                return self._say("withdrawn_line", gift=self._gift(said.fault), others=others, **values)
            case PlayerCorrected():
                return Markup.escape(said.player)
            case _:
                return NOTHING

    def _gift(self, gift: Given) -> Markup:
        imp = self._imp(imp_of(gift, self._awards))
        return self._say("told_gift", fault=self._say(f"fault_{gift}"), imp=imp) if isinstance(gift, str) else imp

    def _imp(self, imp: int) -> Markup:
        return self._say("told_imp", imp=signed(imp))

    def _list(self, lines: Iterable[tuple[str, Markup]]) -> Markup:
        return DOT.join(self._say("told_player", name=self.name(one), what=what) for one, what in lines)

    # ---- how it was, and is -----------------------------------------------------------------

    def _held(self, about: AnyDecision, held: Held, aspects: Iterable[str]) -> Markup:
        match about:
            case Substitute() | Withdrawn():
                return self._say("told_sits", name=held.sits) if held.sits else self._say("told_nobody_sits")
            case PlayerCorrected() | TitleCorrected() | SessionsCorrected():
                return BETWEEN.join(PART.format(text) for text in held.said if text) or PART.format("–")
            case Fouled():
                return self._groups(held.groups) if held.groups else self._say("told_as_restored")
            case Deadline():
                return self._say("deadline_line", time=time_tag(held.until)) if held.until else self._say("told_no_end")
            case _:
                return self._play(held.play, aspects)

    def _play(self, laid: Laid | None, aspects: Iterable[str]) -> Markup:
        parts = (part for aspect in aspects for part in self._aspect(laid, aspect)) if laid else ()
        return BETWEEN.join(PART.format(part) for part in parts)  # on a phone a line each

    def _groups(self, groups: Groups) -> Markup:
        lines = Markup(" | ").join(" ".join(map(str, group)) for group in groups)
        return self._say("told_groups", groups=lines)

    def _aspect(self, laid: Laid, aspect: str) -> list[Markup]:
        if aspect == "deal":
            return [self._say("deal", deal=laid.deal)]
        if aspect == "outcome":
            return [self._ending(laid), *(self._seat(laid, seat) for seat in SEATS)]
        given = laid.fines if aspect == "fines" else _together(laid)
        listed = self._list((one, self._imp(-imp if aspect == "fines" else imp)) for one, imp in given.items() if imp)
        return [self._say(f"told_{aspect}", list=listed) if listed else self._say(f"told_no_{aspect}")]

    def _ending(self, laid: Laid) -> Markup:
        if laid.points is None:
            return self._say("told_no_points" if laid.settled else "told_to_come")
        if laid.hand is None:
            return self._say(f"win_{laid.win}")
        if laid.hand.kind == "abort" and laid.hand.reason:
            return self._say("told_abort", reason=self._say(f"riichi_{laid.hand.reason}"))
        return self._say(f"riichi_win_{ENDINGS[laid.hand.kind]}")

    def _seat(self, laid: Laid, seat: Seat) -> Markup:
        name = self._say("told_seat", seat=self._say(f"seat_{seat}"), name=self.name(laid.players[seat]))
        if laid.points is None:
            return name
        key = "told_winner" if seat in laid.winners else "told_discarder" if seat == laid.discarder else "told_points"
        worth = self._worth(laid, seat) if seat in laid.winners else ""
        return self._say(key, who=name, worth=worth, points=signed(laid.points[seat]))

    def _worth(self, laid: Laid, seat: Seat) -> Markup:
        if laid.hand is None or seat not in laid.hand.wins:
            return self._say("hand_value", value=laid.winners[seat])
        win = laid.hand.wins[seat]
        if win.yakuman:
            return self._say("riichi_yakuman", count=win.yakuman)
        return self._say("riichi_han_fu", han=win.han, fu=win.fu) if win.fu else self._say("riichi_han", han=win.han)


def _together(laid: Laid) -> dict[str, int]:
    """Give what each player got beside the points, or in their place."""
    return {one: laid.instead.get(one, 0) + laid.awards.get(one, 0) for one in {**laid.instead, **laid.awards}}


def _outcome(laid: Laid) -> object:
    return laid.win, laid.winners, laid.discarder, laid.hand, laid.points, laid.settled, laid.players


def _aspects(had: Laid | None, now: Laid | None) -> list[str]:
    """Name what of a play is other than before: the deal, the outcome, the awards, the fines."""
    if had is None or now is None:
        return []
    changed = {
        "deal": had.deal != now.deal,
        "outcome": _outcome(had) != _outcome(now),
        "awards": _together(had) != _together(now),
        "fines": had.fines != now.fines,
    }
    return [aspect for aspect, is_other in changed.items() if is_other]
