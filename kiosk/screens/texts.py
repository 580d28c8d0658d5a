"""The screens' texts for states, seats, parts and problems, by code."""

from collections.abc import Mapping
from typing import Final

from broker import device_faults
from broker.i18n import N_, NP_, Message, Translator, UnknownLanguage
from kiosk.errors import BadConfiguration

STATE: Final[Mapping[str, Message]] = {
    "waiting": N_("Waiting for the plan"),
    "finished": N_("Session over"),
    "restoring": N_("Restore the walls"),
    "seating": N_("Take your seats"),
    "confirming": N_("Check your tiles"),
    "playing": NP_("state of a table", "Play"),
    "declared": N_("Declared"),
    "accepting": N_("Result"),
    "recorded": N_("Recorded"),
}

STATE_HELP: Final[Mapping[str, Message]] = {
    "waiting": N_("Nothing to do yet. The scorer will send who plays here."),
    "finished": N_("All deals of this table are played. Thank you."),
    "restoring": N_("Put the trays under the camera, one at a time."),
    "seating": N_("Is your name at your seat? Press your button. If not, change places first."),
    "confirming": N_("Are your 34 tiles in order? Press your button. If not, touch no tile: call the arbiter."),
    "playing": N_("To declare hu, press your button silently."),
    "declared": N_("Show the winning hand."),
    "accepting": N_("Do you accept this result? Press your button."),
    "recorded": N_("Mix the tiles face down."),
}

STATE_MARKED: Final[Mapping[str, Message]] = {
    "restoring": N_("tray: correct"),
    "seating": N_("player: here"),
    "confirming": N_("confirmed"),
}

RULE: Final[Mapping[str, Message]] = {
    "self_test": N_("Self-test"),
    "pause": N_("Pause"),
    "resume": NP_("button", "Continue"),
    "extra_time": NP_("button", "Extra time"),
    "override": N_("Play although known"),
    "forward": N_("Play this carrier first"),
    "swap": N_("Swap two seats"),
    "declared": N_("Correct who declared"),
    "false_hu": N_("False hu"),
    "infraction": N_("Infraction"),
    "reopen": N_("Enter result again"),
    "adjust": N_("Adjust the play"),
    "void": N_("Void the play"),
    "what_happened": N_("What happened?"),
}

ARBITER: Final[Mapping[str, Message]] = {
    "pin": N_("Arbiter’s PIN"),
    "checking": N_("Checking…"),
    "act": N_("Which ruling?"),
    "minutes": N_("Minutes: {minutes}"),
    "seats": N_("Which seats?"),
    "fine": N_("How much?"),
    "infraction": N_("Which infraction?"),
    "penalty": N_("Which penalty? The first is for a first offence."),
    "reason": N_("Why?"),
    "sure": N_("Are you sure?"),
}

LOST: Final[Mapping[str, Message]] = {
    "forward": N_("The trays laid for the present deal no longer count: lay them again when its turn comes."),
    "adjust": N_("The play ends now. What was declared and entered is lost; each player gets IMPs instead."),
    "void": N_("The play ends now. What was declared and entered is lost; it counts for nobody."),
}
"""What is lost by a ruling."""

MEASURE: Final[Mapping[str, Message]] = {"warning": N_("Warning"), "dead_hand": N_("Dead hand")}
"""A fine is named by its IMP."""

REASON: Final[Mapping[str, Message]] = {
    "1": N_("hand not valid"),
    "2": N_("entered wrongly"),
    "3": N_("button or camera"),
    "4": N_("tiles misplaced"),
    "5": N_("a tile was exposed"),
    "6": N_("player missing"),
    "7": N_("time is up"),
    "8": N_("another reason"),
}

RULED: Final[Mapping[str, Message]] = {
    "void": N_("The play is void"),
    "adjusted": N_("Adjusted by the arbiter"),
}

STOPPED: Final[Mapping[str, Message]] = {
    "deal_played_here": N_("This table has already played deal {deal}."),
    "player_played_deal": N_("Deal {deal} has already been played by:"),
}

TEST: Final[Mapping[str, Message]] = {
    "wrong_seat": N_("{other} responded: wrong button, or plugs swapped?"),
    "too_short": N_("{other}: too short. Nobody pressed? Look at its cable."),
    "well": N_("{other}: works again"),
}

PART: Final[Mapping[str, Message]] = {**device_faults.PART, "wire": N_("Message"), "key": N_("Device {device}")}

PART_FAULT: Final[Mapping[str, Message]] = {
    **device_faults.PART_FAULT,
    "wire": N_("not understood"),
    "plan": N_("not accepted"),
}

FAULT: Final[Mapping[str, Message]] = {
    **device_faults.DEVICE_FAULT,
    "device_forbidden": N_("not allowed"),
    "card_refuses": N_("cannot be written"),
    "journal_newer": N_("the play begins again"),
    "fact_unexpected": N_("call the arbiter now"),
    "unknown_keyboard": N_("not this table’s"),
    "scan_cut": N_("It was cut off."),
    "scan_garbled": N_("The line is noisy."),
    "scan_no_such_tile": N_("No set has such a number."),
    "scan_too_long": N_("Its code is too long."),
    "scan_unknown": N_("It is not a tile code."),
    "scan_without_set": N_("It has no set number."),
    "scan_wrong_encoding": N_("Scanner set up wrongly: encoding."),
    "scan_wrong_layout": N_("Scanner set up wrongly: keyboard."),
    "scan_wrong_parity": N_("Scanner set up wrongly: parity."),
}

REMEDY: Final[Mapping[str, Message]] = {
    "button_silent": N_("Push its plug in, or change button or cable."),
    "button_exchanged": N_("Swap the two plugs."),
    "button_stuck": N_("Check what is on it, or change it."),
    "button_disconnected": N_("Push its plug in."),
    "button_shorted": N_("Change the cable."),
    "button_chatters": N_("Change the button, or keep its cable away from mains power."),
    "card_refuses": N_("Play on; do not switch off. Call the organiser."),
    "box_silent": N_("Unplug the box and plug it in again."),
    "box_reset": N_("Push in the box’s USB plug."),
    "box_version": N_("The box needs new firmware. Tell the organiser."),
    "box_overflow": N_("Check, and press again if needed."),
    "device_missing": N_("Plug it in."),
    "device_unplugged": N_("Plug it back in; it will reconnect."),
    "device_in_use": N_("Restart this device."),
    "device_forbidden": N_("The installer has to allow it."),
    "scanner_beeps": N_("Scan the code “beep off” of its manual."),
    "scanner_silent": N_("Check trigger and plug, or change it."),
    "camera_failed": N_("Unplug it and plug it in again."),
    "picture_empty": N_("Unplug it and plug it in again."),
    "picture_unreadable": N_("Change its cable, or plug it in elsewhere."),
    "camera_missing": NP_("camera", "Plug it in."),
    "camera_driver_missing": N_("The installer has to install it."),
    "camera_unplugged": NP_("camera", "Plug it back in; it will reconnect."),
    "camera_closed": N_("Restart this device."),
    "picture_wrong": N_("Clean lens, check light; see camera page."),
    "camera_no_tiles": N_("Put a full tray under it, face down."),
    "camera_dark": N_("More light on the mat."),
    "camera_bright": N_("Less light on the mat."),
    "camera_glare": N_("Turn the lamp, or shade it with paper."),
    "camera_soft": N_("Clean the lens, then focus on the backs."),
    "camera_tilted": N_("Let it look straight down."),
    "camera_noisy": N_("More light helps most."),
    "disk_low": N_("Tell the organiser: free up space."),
    "journal_full": N_("Do not switch off. Call the organiser."),
    "broker_refused": N_("Ask the organiser to pair the table again."),
    "device_unknown": N_("Play can continue. Tell the arbiter this number."),
    "receipt_unproven": N_("Ask the organiser to pair the table again."),
    "journal_newer": N_("Nothing is lost. Call the arbiter."),
    "fact_unexpected": N_("Stay seated, and call the arbiter."),
    "unknown_keyboard": N_("Unplug it, and call the arbiter."),
    "screen_black": N_("Tell the installer: its driver shows nothing."),
    "screen_unplugged": NP_("screen", "Plug it in again, then restart this device."),
    "undervoltage": N_("Use its own power supply, short cable."),
    "too_hot": N_("Give it air; move it out of the sun."),
    "clock_unset": N_("Connect it to the network. Play can begin."),
    "light_tells": N_("Cover the light; tell the installer."),
}

KEY: Final[Mapping[str, Message]] = {
    "enter": NP_("key", "Enter"),
    "back": N_("Backspace"),
    "clear": N_("Del"),
    "m": NP_("key", "Light"),
}

PROBLEM: Final[Mapping[str, Message]] = {
    "address_unreadable": N_("Not a valid address"),
    "code_unreadable": N_("A code has eight digits"),
    "desk_unreachable": N_("No desk answers there"),
    "desk_unproven": N_("This code is from another desk: tell the organiser"),
    "pairing_unknown": N_("The desk does not know this code"),
    "pairing_spent": N_("This code was used: ask for a new one"),
    "pairing_over": N_("This code has expired: ask for a new one"),
    "pairing_delayed": N_("Too many wrong codes: wait a quarter of an hour"),
    "pairing_busy": N_("Too many devices are asking the desk: try again in a moment"),
    "camera_reads": N_("Put this tray under the camera."),
    "hand_not_seen": N_("No tile in view."),
    "hand_face_up": N_("A tile lies face up: turn it over."),
    "hand_foreign": N_("There is a tile of another set."),
    "river_unclear": N_("Rows of six, or groups two fingers apart: move the tiles a little."),
    "laid_of_another": N_("These tiles are another player’s."),
    "laid_taken": N_("These tiles were read: show the next ones."),
    "not_kept_here": N_("This play cannot be kept."),
    "hand_unread": N_("A tile could not be read: move it a little."),
    "winning_tile_not_apart": N_("Put the winning tile last, apart from the others."),
    "tile_laid_twice": N_("One number was read twice."),
    "wrong_tile_count": N_("Incomplete: a hand is 14 tiles, plus one for each kong."),
    "not_a_meld": N_("Not a meld, or two melds are too close together."),
    "kong_unclear": N_("Which four are the concealed kong? Put the others together."),
    "not_drawn_last": N_("The winning tile is not the one drawn last."),
    "not_winning": N_("This is not a winning hand."),
    "indicators_unclear": N_("Below the hand: only indicators, up to five, in one or two groups."),
    "walls_not_read": N_("The walls were not read. Read the hand again, or enter the value by keypad."),
    "no_han_here": N_("Riichi is not played here: enter the value by keypad."),
    "deal_sealed": N_("The scorer cannot open this deal: enter the value by keypad."),
    "set_not_registered": N_("The scorer does not know this set: enter the value by keypad."),
    "no_yaku": N_("The hand is complete and has no yaku."),
    "yaku_counter_failed": N_("This hand could not be counted: enter the value by keypad."),
    "ippatsu_with_rinshan": N_("No ippatsu on a replacement tile."),
    "not_first_turn": N_("Not a first turn: the dealer discards first."),
    "red_fives_unclear": N_("More red fives than suits with a five."),
    "wrong_red_fives": N_("With all four fives of a suit, one is red."),
    "play_has_result": N_("This play has its result already."),
    "counted_too_often": N_("Too many attempts: enter the value by keypad."),
    "not_last_of_kind": N_("The winner has another of that tile."),
    "replacement_without_kong": N_("No replacement tile without a kong."),
    "robbed_on_last_tile": N_("The last tile cannot be a robbed kong."),
    "kong_not_robbed": N_("Not robbed: the winner has another of that tile."),
    "fan_counter_missing": N_("The scorer cannot count fan: enter the value."),
    "below_minimum": N_("Too low: the value is below the minimum for a win."),
    "above_maximum": N_("Too high: no hand is worth so much."),
    "arbiter_needed": N_("Only the arbiter can do this. Call one."),
    "pin_wrong": N_("Wrong PIN"),
    "pin_locked": N_("Too many tries: wait"),
    "journal_full": N_("Memory card full: nothing was saved."),
    "another_device": N_("Another device is in use here."),
    "not_now": N_("Not possible at this point."),
    "no_play": N_("Nothing is being played here."),
    "no_session": N_("No riichi session is played here."),
    "table_paused": N_("The table is paused."),
    "deal_played_here": N_("This table has played this deal."),
    "player_played_deal": N_("A player here has played this deal."),
    "no_such_carrier": N_("Show a tray of unknown tiles first."),
    "no_such_play": N_("No such deal is planned for this table."),
    "other_players": N_("That deal is for other players."),
    "nothing_recorded": N_("There is no result to reopen."),
    "did_not_declare": N_("This seat has not declared."),
    "fine_not_in_profile": N_("The rules have no such fine."),
    "not_a_win": N_("Nobody has declared a win."),
    "winners_differ": N_("Enter a value or false hu for each."),
    "nothing_to_override": N_("This play is not stopped."),
    "tray_is_right": N_("This tray is already correct."),
    "not_two_seats": N_("Choose two different seats."),
    "press_again": N_("This seat has declared already."),
    "press_of_dead_hand": N_("This seat’s hand is dead in this play."),
    "dead_hand_won": N_("A dead hand cannot win: first correct who declared, or the result."),
    "press_too_soon": N_("Too soon: check, then press again."),
    "discarder_missing": N_("Whose tile was it?"),
    "discarder_wins": N_("You cannot win on your own discard."),
    "loser_wins": N_("You cannot win on your own discard."),
    "several_self_drawn": N_("Only one player can win by self-draw."),
    "several_winners": N_("Only the nearest player wins here."),
    "winner_missing": N_("Enter the winner."),
    "han_missing": N_("Enter han, at least 1."),
    "impossible_fu": N_("Fu must be 25, or a multiple of 10 from 20."),
    "impossible_value": N_("No hand has so many han and fu."),
    "value_missing": N_("Enter han and fu; from 5 han only han."),
    "pao_not_asked": N_("Pao does not apply to this hand."),
    "responsible_wins": N_("Not possible: that is the winner (pao)."),
    "abort_not_played": N_("Not an abortive draw here."),
    "nagashi_not_played": N_("Nagashi mangan is not used here."),
    "session_over": N_("The session is over."),
    "riichi_noten": N_("Riichi needs tenpai; otherwise it is chombo."),
    "offender_missing": N_("Choose whose fault it was."),
    "no_first_fault": N_("At least one fault must be independent."),
    "fan_counter_failed": N_("Could not be counted: enter the value."),
    "form_malformed": N_("Desk and device have different versions."),
    "form_too_large": N_("Desk and device have different versions."),
    "nothing_to_pair_with": N_("No table can reach the broker: tell the organiser."),
    "desk_error": N_("Something is wrong at the desk: tell the organiser."),
    "no_answer": N_("That address is not a Homologue desk."),
    "no_fan_here": N_("Riichi is played here: enter the value by keypad."),
    "five_of_a_tile": N_("Five of one tile: wrong set. Enter the value by keypad."),
    "concealed_meld": N_("Only a kong can be concealed."),
    "riichi_without_points": N_("Too few points for the deposit."),
    "nothing_to_take_back": N_("Nothing has been recorded here yet."),
}

RIICHI_ASK: Final[Mapping[str, Message]] = {
    "riichi": N_("Whose riichi stick?"),
    "abort": N_("Why is the hand aborted?"),
    "fault": N_("Arbiter: whose fault, and which?"),
    "dependent": N_("Who was misled by another’s fault? They do not pay."),
    "spoilt": N_("Whose yakuman was still possible?"),
    "nagashi": N_("Whose nagashi mangan?"),
    "take_back": N_("Take the last hand back, and enter it again?"),
    "stop": N_("End the session now?"),
}

RIICHI_OF: Final[Mapping[str, Message]] = {
    "han": N_("Han of {seat}"),
    "fu": N_("{seat}, {han} han: how many fu?"),
    "yakuman": N_("{seat}: how many yakuman?"),
}

RIICHI: Final[Mapping[str, Message]] = {
    "nine_terminals": N_("Nine terminals"),
    "four_winds": N_("Four winds"),
    "four_riichi": N_("Four riichi"),
    "four_kans": N_("Four kans"),
    "triple_ron": N_("Triple ron"),
    "tsumo": N_("Drawn by the winner: {seats}"),
    "draw": NP_("riichi", "Drawn hand"),
    "chombo": N_("Chombo: {seats}"),
    "minor_fault": N_("Minor fault: {seats}"),
    "end": N_("End of the session"),
}

QUESTION: Final[Mapping[str, Message]] = {
    "count_tile": N_("Winning tile: {answer}"),
    "count_concealed_kong": N_("Concealed kong: {answer}"),
    "count_last_tile": N_("Last tile of the wall: {answer}"),
    "count_replacement": N_("Replacement tile: {answer}"),
    "count_robbed": N_("Robbed kong: {answer}"),
    "count_last_of_kind": N_("Other three visible: {answer}"),
    "count_riichi": N_("Riichi: {answer}"),
    "count_ippatsu": N_("Ippatsu: {answer}"),
    "count_moment": N_("Special: {answer}"),
    "count_red_fives": N_("Red fives: {answer}"),
    "count_turned": N_("Indicators turned: {answer}"),
}

ANSWER: Final[Mapping[str, Message]] = {
    "self_drawn": N_("Self-drawn"),
    "count_discarded": N_("Discard"),
    "count_unsaid": N_("?"),
    "do_riichi_yes": N_("Yes"),
    "do_riichi_no": N_("No"),
    "count_last_tile_drawn": N_("Last tile"),
    "count_last_tile_claimed": N_("Last discard"),
    "count_kan_drawn": N_("Replacement"),
    "count_kan_claimed": N_("Robbed kan"),
    "count_first_turn_drawn": N_("First turn"),
    "count_first_turn_claimed": N_("First turn"),
}


def refusal(_: Translator, code: str) -> str:
    """Return the sentence for a refusal at the keyboard, or one with its code if there is none."""
    return _(PROBLEM[code]) if code in PROBLEM else _("Not accepted: {code}", code=code)


def translator(language: str) -> Translator:
    """Return the translator for the table's language. Raises BadConfiguration if there is no such language."""
    try:
        return Translator(language)
    except UnknownLanguage as error:
        raise BadConfiguration(str(error)) from None
