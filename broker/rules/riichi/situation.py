"""Whether a hand can have won as it is said, before it is counted."""

from broker.rules.errors import RuleError
from broker.rules.riichi.hand import Hand, Situation, check_seen, plain
from broker.rules.riichi.profile import HandRules
from broker.rules.tiles import RED


def check(hand: Hand, situation: Situation, rules: HandRules) -> None:
    """Raise RuleError where tiles, situation and rules contradict each other; docs/riichi.md lists the codes."""
    check_seen(hand, situation)
    _check_red(hand, rules)
    _check_riichi(hand, situation, rules)
    _check_last_tile(situation)
    _check_kan(hand, situation)
    if situation.first_turn:
        _check_first_turn(hand, situation)


def _check_red(hand: Hand, rules: HandRules) -> None:
    if not rules.red_fives.value:
        return  # a red five is a five then: many sets have them, also where they are not counted
    tiles = hand.all_tiles
    for red, five in RED.items():
        wrong = tiles.count(red) > 1 or tiles.count(five) > 3  # noqa: PLR2004 - the fourth one is red
        _refuse_if(wrong, "wrong_red_fives", f"of the four {five} one is red: {red} at most once, {five} three times")


def _check_riichi(hand: Hand, said: Situation, rules: HandRules) -> None:
    _refuse_if(bool(said.riichi) and hand.open, "riichi_with_open_hand", "riichi is declared on a closed hand only")
    _refuse_if(said.ippatsu and not said.riichi, "ippatsu_without_riichi", "ippatsu needs riichi")
    _refuse_if(said.ippatsu and said.rinshan, "ippatsu_with_rinshan", "the own kan has ended ippatsu")
    _refuse_if(said.open_riichi and not said.riichi, "open_riichi_without_riichi", "open riichi is a kind of riichi")
    refused = said.open_riichi and not rules.open_riichi.value
    _refuse_if(refused, "open_riichi_refused", "these rules know no open riichi")


def _check_last_tile(said: Situation) -> None:
    _refuse_if(said.haitei and not said.self_drawn, "haitei_on_discard", "haitei is the last tile drawn")
    _refuse_if(said.houtei and said.self_drawn, "houtei_self_drawn", "houtei is the last tile discarded")
    # MONTREAL: "haitei rinshan" is a contradiction in terms.
    both = said.haitei and said.rinshan
    _refuse_if(both, "haitei_with_rinshan", "a replacement tile is never the last tile of the wall")
    both = said.houtei and said.chankan
    _refuse_if(both, "houtei_with_chankan", "a tile added to a kan is no discard")


def _check_kan(hand: Hand, said: Situation) -> None:
    _refuse_if(said.rinshan and not said.self_drawn, "rinshan_on_discard", "a replacement tile is drawn")
    no_kan = said.rinshan and all(meld.kind != "kan" for meld in hand.melds)
    _refuse_if(no_kan, "replacement_without_kong", "a replacement tile is drawn after a kan, and there is none")
    _refuse_if(said.chankan and said.self_drawn, "chankan_self_drawn", "a kan is robbed of another's tile")
    if said.chankan:
        # All four of the kan are accounted for: three of its owner's, and the one that is robbed.
        seen = plain((*hand.all_tiles, *said.dora_indicators, *said.ura_indicators))
        tile = plain((hand.winning_tile,))[0]
        _refuse_if(seen.count(tile) > 1, "kong_not_robbed", f"another {tile} is seen, so nobody has a kan of it")


def _check_first_turn(hand: Hand, said: Situation) -> None:
    _refuse_if(bool(hand.melds), "not_first_turn", "the winner has called or made a kan")
    _refuse_if(bool(said.riichi), "not_first_turn", "the winner has declared riichi, so has discarded already")
    _refuse_if(said.haitei or said.houtei or said.rinshan, "not_first_turn", "that is no tile of a first turn")
    dealer = said.dealer and not said.self_drawn
    _refuse_if(dealer, "not_first_turn", "the dealer discards before anybody else, so has had a turn")


def _refuse_if(wrong: bool, code: str, text: str) -> None:  # noqa: FBT001 - reads as a sentence
    if wrong:
        raise RuleError(code, text)
