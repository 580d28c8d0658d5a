"""What the screens call states, seats, parts and problems, by code."""

from collections.abc import Mapping
from typing import Final

from broker.i18n import N_, NP_, Message, Translator, UnknownLanguage
from kiosk.errors import BadConfiguration

STATE: Final[Mapping[str, Message]] = {
    "waiting": N_("Waiting for the plan"),
    "finished": N_("Session over"),
    "restoring": N_("Restore the walls"),
    "seating": N_("Take your seats"),
    "confirming": N_("Check your tiles"),
    "playing": NP_("state of a table", "Play"),
    "paused": N_("Paused"),
    "declared": N_("Declared"),
    "accepting": N_("Result"),
    "recorded": N_("Recorded"),
}

STATE_HELP: Final[Mapping[str, Message]] = {
    "waiting": N_("The scorer will say who plays here. Nothing to do yet."),
    "finished": N_("All deals of this table are played. Thank you."),
    "restoring": N_("Lay the trays under the camera, one after the other."),
    "seating": N_("Is your name at your seat? Press your button."),
    "confirming": N_("Are your 34 tiles in order? Then press your button."),
    "playing": N_("To declare hu, press your button. Make no sound."),
    "paused": N_("The arbiter has paused this table. Buttons do not count now."),
    "declared": N_("Show the winning hand."),
    "accepting": N_("Do you accept this result? Press your button."),
    "recorded": N_("Mix the tiles face down."),
}

STATE_MARKED: Final[Mapping[str, Message]] = {
    "restoring": N_("right"),
    "seating": N_("here"),
    "confirming": N_("confirmed"),
}

RULE: Final[Mapping[str, Message]] = {
    "self_test": N_("Self-test"),
    "pause": N_("Pause"),
    "resume": NP_("button", "Go on"),
    "extra_time": NP_("button", "Extra time"),
    "override": N_("Play all the same"),
    "forward": N_("Play this deal now"),
    "swap": N_("Swap two seats"),
    "declared": N_("Who declared"),
    "false_hu": N_("False hu"),
    "reopen": N_("Reopen the result"),
    "adjust": N_("Adjust"),
    "void": NP_("button", "Void"),
}

ARBITER: Final[Mapping[str, Message]] = {
    "pin": N_("PIN?"),
    "act": N_("What do you rule?"),
    "minutes": N_("Minutes: {minutes}"),
    "seats": N_("Which seats?"),
    "fine": N_("How much?"),
    "reason": N_("Why?"),
}

REASON: Final[Mapping[str, Message]] = {
    "1": N_("hand not valid"),
    "2": N_("entered wrongly"),
    "3": N_("button or camera"),
    "4": N_("tiles lay wrong"),
    "5": N_("a tile was seen"),
    "6": N_("player missing"),
    "7": N_("time is over"),
    "8": N_("another reason"),
}

RULED: Final[Mapping[str, Message]] = {
    "void": N_("The play is void"),
    "adjusted": N_("Adjusted by the arbiter"),
}

STOPPED: Final[Mapping[str, Message]] = {
    "deal_played_here": N_("Stop: this table had deal {deal} before"),
    "player_played_deal": N_("Stop: deal {deal} was played before"),
    "help": N_("Touch no tile. Call the arbiter."),
}

MISPLACED: Final[Mapping[str, Message]] = {
    "missing": N_("row {row}, place {col}: empty; {expected} belongs there"),
    "swapped": N_("row {row}, place {col}: {found}; exchange with row {row2}, place {col2}"),
    "wrong-hand": N_("row {row}, place {col}: {found} belongs to another tray; {expected} belongs there"),
    "foreign": N_("row {row}, place {col}: tile of another set; {expected} belongs there"),
    "face-up": N_("row {row}, place {col}: face up; turn it over"),
    "upside-down": N_("row {row}, place {col}: turn it round"),
    "occluded": N_("row {row}, place {col}: covered"),
    "sideways": N_("row {row}, place {col}: lies askew"),
}

TEST: Final[Mapping[str, Message]] = {
    "step": N_("Self-test {step} of {steps}"),
    "button": N_("Press the button of {seat}"),
    "button_help": N_("One short press, whoever you are. Go round the table."),
    "wrong_seat": N_("{other} came: wrong button, or plugs exchanged?"),
    "too_short": N_("{other}: too short. Nobody pressed? Look at its cable."),
    "well": N_("{other}: well again"),
    "seat_asked": N_("press now"),
    "seat_right": N_("works"),
    "seat_wrong": N_("does not come"),
    "scan": N_("Scan any tile"),
    "scan_help": N_("It must make no sound."),
    "scanned": N_("Tile {serial} was read"),
    "scanned_other": N_("Something was read, but no tile"),
    "beep": N_("Did the scanner make a sound?"),
    "camera": N_("Is the picture sharp, bright and whole?"),
    "camera_help": N_("Lay a tray there, backs up."),
    "no_picture": N_("No picture yet"),
    "passed": N_("All is well"),
    "found": N_("To be mended"),
}

PART: Final[Mapping[str, Message]] = {
    "buttons": N_("Buttons"),
    "lamps": N_("Lamps"),
    "scanner": N_("Scanner"),
    "camera": N_("Camera"),
    "disk": N_("Card"),
    "broker": N_("Broker"),
    "wire": N_("Message"),
    "plan": N_("Plan"),
    "board": N_("Device"),
    "button": N_("Button {seat}"),
    "contact": N_("Button {seat}"),
    "press": N_("Press of {seat}"),
}

PART_FAULT: Final[Mapping[str, Message]] = {
    "wire": N_("not understood"),
    "plan": N_("not taken"),
}

FAULT: Final[Mapping[str, Message]] = {
    "and_remedy": N_("{fault}. {remedy}"),
    "button_silent": N_("does not come"),
    "button_exchanged": N_("another seat came"),
    "button_stuck": N_("stays pressed"),
    "button_disconnected": N_("cable off"),
    "button_shorted": N_("wires touch"),
    "button_chatters": N_("loose contact"),
    "box_silent": N_("box says nothing"),
    "box_reset": N_("box started anew"),
    "box_version": N_("box of another version"),
    "box_overflow": N_("presses may be lost"),
    "device_missing": N_("not there"),
    "device_unplugged": N_("unplugged"),
    "device_in_use": N_("used by another program"),
    "device_forbidden": N_("not allowed"),
    "evdev_missing": N_("not installed"),
    "scanner_beeps": N_("makes a sound"),
    "scanner_silent": N_("reads nothing"),
    "camera_failed": N_("failed"),
    "camera_missing": NP_("camera", "not there"),
    "camera_unplugged": NP_("camera", "unplugged"),
    "camera_closed": N_("closed"),
    "picture_wrong": N_("picture not right"),
    "camera_no_tiles": N_("no tiles seen"),
    "camera_dark": N_("too dark"),
    "camera_bright": N_("too bright"),
    "camera_glare": N_("a lamp is reflected"),
    "camera_soft": N_("not sharp"),
    "camera_tilted": N_("tilted"),
    "camera_noisy": N_("noisy picture"),
    "disk_low": N_("nearly full"),
    "journal_full": N_("full"),
    "broker_refused": N_("refuses this table"),
    "undervoltage": N_("too little power"),
    "too_hot": N_("too hot"),
    "clock_unset": N_("time of day unknown"),
    "light_tells": N_("its light shows presses"),
    "press_told_late": N_("told late"),
    "scan_cut": N_("It broke off."),
    "scan_garbled": N_("The line is noisy."),
    "scan_no_such_tile": N_("No set has such a number."),
    "scan_too_long": N_("Its code is too long."),
    "scan_unknown": N_("It is no code of ours."),
    "scan_without_set": N_("Its set is not named."),
    "scan_wrong_encoding": N_("Scanner set up wrongly: encoding."),
    "scan_wrong_layout": N_("Scanner set up wrongly: keyboard."),
    "scan_wrong_parity": N_("Scanner set up wrongly: parity."),
}

REMEDY: Final[Mapping[str, Message]] = {
    "button_silent": N_("Push its plug in; else change button or cable."),
    "button_exchanged": N_("Exchange the two plugs."),
    "button_stuck": N_("See what lies on it; else change it."),
    "button_disconnected": N_("Push its plug in."),
    "button_shorted": N_("Change the cable."),
    "button_chatters": N_("Change the button, or lead its cable away from the mains."),
    "box_silent": N_("Unplug the box and plug it in again."),
    "box_reset": N_("Push in the box's USB plug."),
    "box_version": N_("The box is to be flashed anew: organiser."),
    "box_overflow": N_("Press again where it mattered."),
    "device_missing": N_("Plug it in."),
    "device_unplugged": N_("Plug it in again: it works by itself."),
    "device_in_use": N_("Restart this device."),
    "device_forbidden": N_("The installer has to allow it."),
    "evdev_missing": N_("The installer has to install evdev."),
    "scanner_beeps": N_("Scan the code 'beep off' of its manual."),
    "scanner_silent": N_("Trigger pressed? Plug in? Else change it."),
    "camera_failed": N_("Unplug it and plug it in again."),
    "camera_missing": NP_("camera", "Plug it in."),
    "camera_unplugged": NP_("camera", "Plug it in again: it works by itself."),
    "camera_closed": N_("Restart this device."),
    "picture_wrong": N_("Clean the lens; light; see the camera's page."),
    "camera_no_tiles": N_("Lay a full tray under it, backs up."),
    "camera_dark": N_("More light on the mat."),
    "camera_bright": N_("Less light on the mat."),
    "camera_glare": N_("Turn the lamp, or shade it with paper."),
    "camera_soft": N_("Clean the lens, then focus on the backs."),
    "camera_tilted": N_("Let it look straight down."),
    "camera_noisy": N_("More light helps most."),
    "disk_low": N_("Tell the organiser: room is needed."),
    "journal_full": N_("Do not switch off. Call the organiser."),
    "broker_refused": N_("The table is to be paired anew: organiser."),
    "undervoltage": N_("Its own power supply, a short thick cable."),
    "too_hot": N_("Let air to it; take it out of the sun."),
    "clock_unset": N_("Connect it to the network. Play can begin."),
    "light_tells": N_("Cover the light; the installer stills it."),
}

KEY: Final[Mapping[str, Message]] = {
    "enter": NP_("key", "Enter"),
    "back": N_("Backspace"),
    "clear": N_("Del"),
}

PROBLEM: Final[Mapping[str, Message]] = {
    "address_unreadable": N_("That is no address"),
    "code_unreadable": N_("A code has eight digits"),
    "desk_unreachable": N_("No desk answers there"),
    "desk_unproven": N_("Not the desk that gave this code: tell the organiser"),
    "pairing_unknown": N_("The desk does not know this code"),
    "pairing_spent": N_("This code was used: ask for a new one"),
    "pairing_over": N_("This code is too old: ask for a new one"),
    "pairing_delayed": N_("Too many wrong codes: wait a quarter of an hour"),
    "camera_reads": N_("The camera reads this tray: lay it there."),
    "hand_not_seen": N_("No tile in view."),
    "hand_face_up": N_("A tile lies face up: turn it over."),
    "hand_foreign": N_("A tile of another set lies there."),
    "hand_unread": N_("A tile could not be read: move it a little."),
    "winning_tile_not_apart": N_("Lay the winning tile last, apart from the others."),
    "tile_laid_twice": N_("One number is read twice."),
    "wrong_tile_count": N_("Not a whole hand: 14 tiles, and one more for each kong."),
    "not_a_meld": N_("These tiles are no meld, or two melds lie too close."),
    "kong_unclear": N_("Which four are the concealed kong? Lay the others together."),
    "not_drawn_last": N_("The winning tile is not the one drawn last."),
    "not_winning": N_("These tiles are no winning hand."),
    "indicators_unclear": N_("Below the hand: indicators alone, five at most, in one or two groups."),
    "walls_not_read": N_("The walls were not read. Read the hand again, or enter the value by keypad."),
    "no_han_here": N_("Riichi is not played here: enter the value by keypad."),
    "set_not_registered": N_("The scorer does not know this set: enter the value by keypad."),
    "no_yaku": N_("The hand is complete and has no yaku."),
    "yaku_counter_failed": N_("This hand could not be counted: enter the value by keypad."),
    "ippatsu_with_rinshan": N_("No ippatsu on a replacement tile."),
    "not_first_turn": N_("That was no first turn: the dealer discards first."),
    "red_fives_unclear": N_("More red fives than suits with a five."),
    "wrong_red_fives": N_("Of all four fives of a suit one is red."),
    "play_has_result": N_("This play has its result already."),
    "counted_too_often": N_("Counted too often: enter the value by keypad."),
    "not_last_of_kind": N_("The winner holds another tile like it."),
    "replacement_without_kong": N_("No replacement tile without a kong."),
    "robbed_on_last_tile": N_("No kong is robbed on the last tile."),
    "kong_not_robbed": N_("Not robbed: the winner has another tile like it."),
    "fan_counter_missing": N_("The scorer cannot count fan: enter the value."),
    "below_minimum": N_("Too low: the value is below the minimum for a win."),
    "arbiter_needed": N_("This is the arbiter's. Call one."),
    "pin_wrong": N_("Wrong PIN"),
    "pin_locked": N_("Too many tries: wait"),
    "journal_full": N_("The card has no room: nothing was taken."),
    "another_device": N_("Another device serves this table."),
    "not_now": N_("Not now: the table is at something else."),
    "no_play": N_("Nothing is being played here."),
    "no_session": N_("No riichi session is played here."),
    "table_paused": N_("The table is paused."),
    "deal_played_here": N_("This table has played this deal."),
    "player_played_deal": N_("Somebody here has played this deal."),
    "no_such_carrier": N_("No tray of unknown tiles has been shown."),
    "no_such_play": N_("No such deal is planned for this table."),
    "other_players": N_("That deal is for other players."),
    "nothing_recorded": N_("There is no result to reopen."),
    "did_not_declare": N_("This seat has not declared."),
    "fine_not_in_profile": N_("The rules know no such fine."),
    "not_a_win": N_("Nobody has declared a win."),
    "winners_differ": N_("Each who declared: a value, or a false hu."),
    "nothing_to_override": N_("Nothing stops this play."),
    "tray_is_right": N_("This tray was read and is right."),
    "not_two_seats": N_("Choose two different seats."),
    "press_again": N_("This seat has declared already."),
    "press_of_dead_hand": N_("This seat has a false hu in this play."),
    "press_too_soon": N_("Too soon: look, then press again."),
    "discarder_missing": N_("Whose tile was it?"),
    "discarder_wins": N_("Nobody wins on their own tile."),
    "loser_wins": N_("Nobody wins on their own tile."),
    "several_self_drawn": N_("Only one can win on a drawn tile."),
    "several_winners": N_("Only the nearest in turn wins here."),
    "winner_missing": N_("Nobody is named who won."),
    "han_missing": N_("Han are missing: one is the least."),
    "impossible_fu": N_("No hand has so many fu: 25, or tens from 20 on."),
    "value_missing": N_("Han and fu, please; from 5 han on only han."),
    "pao_not_asked": N_("Nobody can be responsible for this hand."),
    "responsible_wins": N_("Nobody is responsible for their own hand."),
    "abort_not_played": N_("That breaks no hand off here."),
    "nagashi_not_played": N_("Nagashi does not count here."),
    "session_over": N_("The session is over."),
    "riichi_noten": N_("Who declared riichi is tenpai, or has a chombo."),
    "offender_missing": N_("Choose whose fault it was."),
    "no_first_fault": N_("One fault at least stands by itself."),
    "fan_counter_failed": N_("It could not be counted: enter the value."),
    "form_malformed": N_("Desk and device are of different versions."),
    "form_too_large": N_("Desk and device are of different versions."),
    "nothing_to_pair_with": N_("No table can reach the broker: tell the organiser."),
    "desk_error": N_("Something is wrong at the desk: tell the organiser."),
    "no_answer": N_("What answers there is no desk of ours."),
    "no_fan_here": N_("Riichi is played here: enter the value by keypad."),
    "five_of_a_tile": N_("Five of one tile: the set is wrong. Enter the value by keypad."),
    "concealed_meld": N_("Only a kong can be concealed."),
    "riichi_without_points": N_("Too few points for the deposit."),
    "nothing_to_take_back": N_("Nothing was recorded here yet."),
}

RIICHI_ASK: Final[Mapping[str, Message]] = {
    "riichi": N_("Whose riichi deposit? Laid, or taken back"),
    "abort": N_("Why is the hand broken off?"),
    "fault": N_("Arbiter: whose fault, and which?"),
    "dependent": N_("Whose fault followed from another's? They do not pay."),
    "spoilt": N_("Whose hand could still have become a yakuman?"),
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
    "nine_terminals": N_("nine terminals"),
    "four_winds": N_("four winds"),
    "four_riichi": N_("four riichi"),
    "four_kans": N_("four kans"),
    "triple_ron": N_("triple ron"),
    "tsumo": N_("Drawn by the winner: {seats}"),
    "draw": NP_("riichi", "Drawn hand"),
    "chombo": N_("Chombo: {seats}"),
    "minor_fault": N_("Minor fault: {seats}"),
    "live_kan": N_("Whose discard was made a kan?"),
    "on_riichi_tile": N_("Was it the tile that declared riichi?"),
    "responsible": N_("Did somebody feed it? (pao)"),
}

QUESTION: Final[Mapping[str, Message]] = {
    "count_tile": N_("Winning tile: {answer}"),
    "count_concealed_kong": N_("Concealed kong: {answer}"),
    "count_last_tile": N_("Last tile of the wall: {answer}"),
    "count_replacement": N_("Replacement tile: {answer}"),
    "count_robbed": N_("Robbed kong: {answer}"),
    "count_last_of_kind": N_("Three like it lay open: {answer}"),
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
    """Return what was refused at the keyboard: in a sentence where there is one, by its code where not."""
    return _(PROBLEM[code]) if code in PROBLEM else _("Not taken: {code}", code=code)


def translator(language: str) -> Translator:
    """Return what translates into the table's language. Raises BadConfiguration where there is no such language."""
    try:
        return Translator(language)
    except UnknownLanguage as error:
        raise BadConfiguration(str(error)) from None
