"""Why something was refused, in the reader's language: a sentence chosen by code, followed by details with values.

The text of a refusal is a `Message`: English for scripts, translated on the page. Any other text stays English.
"""

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from broker.i18n import N_, SEAT_NAMES, Message
from broker.web.i18n import HtmlTranslator

LONGEST_DETAIL: Final = 500
"""Maximum length of the English text shown after a sentence; an error can name a thousand lines."""


def error_message(_: HtmlTranslator, error: BaseException) -> Markup:
    """Explain an error. The sentence for its cause's code is preferred, where there is one: it is more specific."""
    text = getattr(error, "text", None) or next((str_ for str_ in error.args if isinstance(str_, str)), "")
    codes = (getattr(one, "code", "") for one in (error.__cause__, error))
    return code_message(_, next((code for code in codes if code in PROBLEM), ""), text, getattr(error, "wait_s", 0))


def code_message(_: HtmlTranslator, code: str, text: str, wait: int = 0) -> Markup:
    """Return the sentence for a code. `text` is the detail, `wait` the number of seconds until a retry is allowed."""
    return _(PROBLEM.get(code, PROBLEM["other"]), wait=wait, detail=detail_message(_, text))


def detail_message(_: HtmlTranslator, text: str) -> Markup:
    """Return the detail that follows a sentence, in the reader's language if it is a Message, else in English."""
    if not text:
        return Markup()
    space = "" if _.language == "zh" else " "  # Chinese has no space between sentences
    if isinstance(text, Message):
        named = {
            name: _(SEAT_NAMES[value])
            for name, value in text.values.items()
            if isinstance(value, str) and value in SEAT_NAMES
        }
        detail = _("({text})", text=_(text, **named))
        return Markup('{}<span class="detail">{}</span>').format(space, detail)
    detail = _("({text})", text=text[:LONGEST_DETAIL])
    return Markup('{}<span class="detail" lang="en">{}</span>').format(space, detail)


PROBLEM: Final[Mapping[str, Message]] = {
    "login_refused": N_("Wrong user name or password."),
    "login_delayed": N_("Too many attempts. Try again in {wait} s."),
    "link_spent": N_("This link has been used or has expired. Restart the scorer for a new one, or log in."),
    "weak_password": N_("Choose a password of 12 to 200 characters that is hard to guess."),
    "account_taken": N_("There is already an account with this name."),
    "account_unknown": N_("There is no account with this name."),
    "bad_account": N_("This user name or role is not valid."),
    "last_head_arbiter": N_("This is the only head arbiter. Create another one first."),
    "bad_token": N_("This name cannot be used for a token: 1 to 32 lower-case letters, digits, dots, hyphens and _."),
    "token_taken": N_("There is already a token with this name. Choose another one."),
    "token_unknown": N_("This token has been revoked, or does not exist."),
    "not_allowed": N_("Your role does not have access to this."),
    "login_needed": N_("Please log in first."),
    "page_unknown": N_("Page not found."),
    "host_unknown": N_(
        "The desk does not answer to this address. Open the one that the scorer shows at its start; --desk-name adds "
        "another."
    ),
    "method_refused": N_("This page cannot be used in this way. Open it from the menu."),
    "desk_failed": N_("The desk’s program failed. Reload the page; if it fails again, tell the organiser."),
    "form_foreign": N_("This form was opened before you last logged in. Check it and send it again."),
    "form_malformed": N_("The form could not be read. Reload the page and try again."),
    "form_too_large": N_("This is too much for one form. Send less at a time."),
    "call_attended": N_("Another arbiter has answered this call in the meantime. See who is going."),
    "no_call": N_("This table is no longer calling."),
    "alert_gone": N_("This alert is no longer in the list."),
    "no_device_waits": N_("That device is already in use, or has not asked to take over. Reload the page."),
    "no_riichi_record": N_(
        "Not available for riichi: PMN records, the booklet and replays need fan and a wall for each seat."
    ),
    "no_compared_plays": N_("This event has only riichi sessions, so there is nothing to compare."),
    "no_teams": N_("This event has no teams."),
    "not_final": N_("This file is available once the head arbiter has declared the standings final."),
    "exports_busy": N_("Another export is in progress. Try again in {wait} s."),
    "bad_order": N_("Choose at least one table and an order, and give a reason (for extra time: 1 to 60 minutes)."),
    "order_unsent": N_("The desk has no connection to the broker. The order was not sent: go to the table."),
    "tables_unheard": N_(
        "None of these tables has been online since the scorer started. The order was not sent: wait until one "
        "is online, or go to the table."
    ),
    "order_given_before": N_(
        "This form was already used for a different order; nothing was sent now. Check the list below, and send "
        "this one again if you still want it."
    ),
    "unsigned_device": N_("Tick the box to accept a device that cannot sign, or update its program first."),
    "upgrade_missing": N_("There is no new version on the scorer’s machine. Its administrator can put one there."),
    "upgrade_unsigned": N_("The new version is not signed by a key that is trusted here."),
    "upgrade_damaged": N_("The new version is damaged. Put it on the scorer’s machine again."),
    "table_has_device": N_("One of the tables already has a connected device. Only one device can be used at a table."),
    "no_table_chosen": N_("Choose 1 to 24 tables."),
    "pin_unusable": N_("Enter a PIN of 4 to 12 digits, the same in both fields."),
    "plan_corrected": N_("The plan has changed since you opened this page. Reload it.{detail}"),
    "setup_changed": N_(
        "This was changed while you were working on it. Check what it says now, then save again.{detail}"
    ),
    "movement_in_progress": N_("Another movement is being made. Wait until it is ready, then send this again.{detail}"),
    "nothing_corrected": N_("The plan already says this: nothing was changed.{detail}"),
    "plan_wrong": N_("A field is missing, too long or not valid.{detail}"),
    "plan_only": N_("Organisers can correct the plan, but only arbiters can make rulings.{detail}"),
    "not_printable": N_("The text has a character that cannot be displayed. Type it again.{detail}"),
    "sessions_wrong": N_(
        "These sessions do not match the movement: each round must be in exactly one session.{detail}"
    ),
    "other": N_("This is not possible in the current state.{detail}"),
    "bad_ruling": N_("The form is out of date. Reload the page and try again.{detail}"),
    "ruling_kind_missing": N_("Choose the kind of ruling."),
    "subject_missing": N_("Open this form from the play or deal that the ruling is about."),
    "nothing_given": N_("Enter a number for at least one player."),
    "player_missing": N_("Enter the player’s name or id."),
    "player_ambiguous": N_("Several players match this name: enter the full name or the id.{detail}"),
    "imp_out_of_range": N_("That number of IMPs is outside the limits.{detail}"),
    "deadline_out_of_range": N_("Enter the end of corrections in minutes from now (0: at once)."),
    "substitute_unnamed": N_("Enter the substitute’s name (at most 100 characters)."),
    "round_missing": N_("Enter the first round it applies to."),
    "hand_value_out_of_range": N_("This is not a possible hand value.{detail}"),
    "setting_unknown": N_("This choice is not available.{detail}"),
    "reason_wrong": N_("Enter a reason; it must not be too long."),
    "number_unreadable": N_("Enter a whole number.{detail}"),
    "ending_missing": N_("Choose how the play ended: on a discard (and whose), self-drawn, or a draw."),
    "scene_incomplete": N_("Count the four walls, and choose whose turn it was and who is dealer."),
    "bad_walls": N_("A wall has 0 to 21 tiles left."),
    "tables_unreadable": N_("Enter table numbers and ranges, such as 1 2 5-9; for groups, one group per line.{detail}"),
    "groups_wrong": N_("Each group may only list tables that play this deal, and each table only once.{detail}"),
    "not_of_play": N_("One of these players is not in this play."),
    "gifts_missing": N_("Enter a number, or 0, for each of the four players."),
    "seats_doubled": N_("Choose four different players, one per seat."),
    "gifts_stand": N_("A player who would leave this play has an award or fine in it: take that back first.{detail}"),
    "unknown_play": N_("This play does not exist.{detail}"),
    "unknown_deal": N_("This event has no such deal.{detail}"),
    "nobody_of_event": N_("One of these players is not in this event.{detail}"),
    "reopen_at_table": N_("A play can only be reopened at its table. Here you can correct it."),
    "id_reused": N_("This form was already sent with different content. Open it again."),
    "impossible_result": N_("This outcome is not possible under the event’s rules.{detail}"),
    "wrong_points": N_("The points do not match that outcome.{detail}"),
    "fine_not_in_profile": N_("The event’s rules have no such fine.{detail}"),
    "below_minimum": N_("The hand value is below the minimum for a win.{detail}"),
    "draw_with_winner": N_("A draw cannot have a winner."),
    "discarder_missing": N_("Choose the discarder: a win on a discard needs one."),
    "discarder_not_asked": N_("This was not a win on a discard: leave the discarder empty."),
    "discarder_wins": N_("Players cannot win on their own discard."),
    "loser_wins": N_("Players cannot win on their own discard.{detail}"),
    "several_self_drawn": N_("Only one player can win by self-draw."),
    "several_winners": N_("Under these rules only the nearest player in turn order wins."),
    "winner_missing": N_("Enter the winner."),
    "hand_missing": N_("For a riichi hand, enter han and fu, or who was tenpai."),
    "hand_not_asked": N_("Leave han and fu empty: this event does not play riichi."),
    "hand_differs": N_("The hand does not match the rest of the entry.{detail}"),
    "han_missing": N_("Enter han, at least 1.{detail}"),
    "impossible_fu": N_("Enter valid fu: 25, or a multiple of 10 from 20 up.{detail}"),
    "impossible_value": N_("No hand has so many han and fu: check both.{detail}"),
    "value_missing": N_("Enter han and fu; from 5 han up only han, or yakuman.{detail}"),
    "negative_yakuman": N_("This number of yakuman is not possible.{detail}"),
    "pao_not_asked": N_("Pao does not apply to this hand.{detail}"),
    "responsible_wins": N_("Players cannot be responsible (pao) for their own hand.{detail}"),
    "abort_not_played": N_("This is not an abortive draw under these rules.{detail}"),
    "nagashi_not_played": N_("These rules do not have nagashi mangan."),
    "loser_missing": N_("Choose the discarder: a ron needs one."),
    "reason_missing": N_("Choose why the hand was aborted."),
    "unknown_profile": N_("This rule profile does not exist.{detail}"),
    "bad_profile": N_("This rule profile cannot be used.{detail}"),
    "malformed": N_("Something is missing or not in the right form.{detail}"),
    "not_planned": N_("The plan has no such play: check round, table and deal.{detail}"),
    "sheet_points": N_(
        "The points on the sheet do not match your entry: check the hand values and the discarder.{detail}"
    ),
    "sheet_wrong": N_("A field is empty or not valid.{detail}"),
    "sheet_twice": N_("A play is listed twice.{detail}"),
    "paper_differs": N_("The table has a different result from this sheet: make a ruling on the play.{detail}"),
    "sheets_differ": N_(
        "Another sheet for this play was entered with a different result: compare both and make a ruling on the "
        "play.{detail}"
    ),
    "sheet_ruled_out": N_(
        "An arbiter has ruled on this play, and the ruling counts. If the sheet is right, take the ruling back "
        "first.{detail}"
    ),
    "keyings_differ": N_("Two people entered this sheet differently: an arbiter has to decide below."),
    "keying_gone": N_("This has already been decided. Reload the page."),
    "no_riichi_sheet": N_("Paper sheets are not for riichi: correct riichi hands under Rulings."),
    "no_plays": N_("There are no plays in the list, or at these tables in these rounds.{detail}"),
    "too_large": N_("That is too much at once: choose less.{detail}"),
    "not_text": N_("The file is neither text nor a workbook. Save it as CSV or .xlsx.{detail}"),
    "bad_workbook": N_("The workbook cannot be read. Save it again as .xlsx, or as CSV.{detail}"),
    "heading_wrong": N_("The columns named in the first line are not those of such a list.{detail}"),
    "line_incomplete": N_("A line does not have as many fields as the header.{detail}"),
    "scorer_error": N_("The scorer cannot do this.{detail}"),
    "people_store_broken": N_(
        "The accounts file could not be read or written; nothing was changed. Check the disk of the desk’s "
        "computer.{detail}"
    ),
    "store_error": N_(
        "The event’s database reported an error; nothing was changed. Check the desk’s computer.{detail}"
    ),
    "store_in_use": N_("This event is open in another program. Stop that first.{detail}"),
    "store_broken": N_("The event’s database cannot be read or written. Check the disk.{detail}"),
    "store_lost": N_("The event’s database cannot be reached. Check its server.{detail}"),
    "bad_event": N_("The event cannot start yet.{detail}"),
    "file_missing": N_(
        "Complete the earlier set-up steps first. If they are done, a file of the event is missing.{detail}"
    ),
    "file_failed": N_("A file of the event cannot be read or written. Check the folder.{detail}"),
    "other_event": N_("The deals were made for an event with a different name.{detail}"),
    "event_not_said": N_("The deals do not say which event they belong to.{detail}"),
    "not_committed": N_("The deals have no commitment: mix them here, or run homologue deal commit.{detail}"),
    "root_differs": N_("The commitment does not match the deals: a deal was changed afterwards.{detail}"),
    "player_without_play": N_("A player in the list has no plays.{detail}"),
    "nobody_compared": N_(
        "Every deal is played at only one table, so nothing is compared and every IMP is 0. Choose more rounds, or "
        "confirm that this is intended.{detail}"
    ),
    "deal_not_compared": N_("These deals are played at only one table, so nothing is compared.{detail}"),
    "standings_late": N_(
        "Players see no standings before the last round. With more carriers of each deal, deals are over "
        "earlier.{detail}"
    ),
    "deal_at_few_tables": N_("These deals are not played at every table, so fewer results are compared.{detail}"),
    "no_players": N_("The list has a header line but no players: nothing was changed.{detail}"),
    "name_missing": N_("A line of the list has no name.{detail}"),
    "named_alike": N_("These players have the same name. If a line is a duplicate, remove it.{detail}"),
    "name_unprintable": N_(
        "Printed pages have no letters for this name and show question marks. Add first_name and last_name in Latin "
        "letters, which are then printed.{detail}"
    ),
    "country_unknown": N_("Unknown country code: use two letters such as FR, or three such as FRA.{detail}"),
    "country_wrong": N_("Write the country as two or three capital letters.{detail}"),
    "event_name_wrong": N_(
        "The event name may have up to 32 lower-case letters, digits and hyphens and must begin with a letter or "
        "digit, such as cup-2026. The title is what people read.{detail}"
    ),
    "title_wrong": N_("Enter a title of 1 to 100 printable characters."),
    "public_address_wrong": N_(
        "Enter a public address such as https://results.example.org: http or https, a host name, optionally a "
        "path; at most 64 characters.{detail}"
    ),
    "player_id_wrong": N_("A player id must have 1 to 32 letters, digits, hyphens or underscores.{detail}"),
    "player_name_wrong": N_("A player’s name is too long or has characters that cannot be displayed.{detail}"),
    "player_detail_wrong": N_(
        "A field in the player list is too long or has characters that cannot be displayed.{detail}"
    ),
    "player_listed_twice": N_("Two lines of the list have the same number.{detail}"),
    "players_have_plays": N_(
        "Players who are already seated are missing from this list. To remove them, tick the box that also deletes "
        "the movement.{detail}"
    ),
    "teams_do_not_fit": N_("Every player must be in a team, and every team needs at least four players.{detail}"),
    "player_without_team": N_("A player is not in a team.{detail}"),
    "team_incomplete": N_("A team does not have exactly one player at each wind of a deal.{detail}"),
    "teammates_meet": N_("Two players of the same team sit at one table.{detail}"),
    "impossible_size": N_("No movement is possible for this number of players.{detail}"),
    "unknown_column": N_("The first line has a column that movements do not use.{detail}"),
    "missing_column": N_("A column is missing from the first line.{detail}"),
    "not_four_players": N_("A table needs four different players.{detail}"),
    "players_change": N_("The players at a table must stay the same within a round.{detail}"),
    "deal_at_two_tables": N_("A deal is at more tables in one round than it has carriers.{detail}"),
    "table_repeats_deal": N_("A table plays a deal twice.{detail}"),
    "player_at_two_tables": N_("A player sits at two tables in one round.{detail}"),
    "player_repeats_deal": N_("A player plays a deal twice.{detail}"),
    "deal_unknown": N_(
        "There are not enough deals for this movement: remove the deals and mix them again, or change the "
        "movement.{detail}"
    ),
    "no_deals": N_("There are no deals to remove."),
    "deals_exist": N_("There are deals already. Remove them first.{detail}"),
    "words_differ": N_("These are not the words that were committed to. Type or scan them again.{detail}"),
    "words_missing": N_("Not everybody has entered their words yet.{detail}"),
    "beacon_missing": N_("Enter the public value that was announced."),
    "draw_open": N_("A draw has been announced. Enter its words, or abandon it."),
    "no_draw": N_("No draw is open. Announce one first."),
    "draws_altered": N_("The list of draws was changed. Compare it with what was announced.{detail}"),
    "draw_secret_missing": N_("The computer’s part of this draw is lost. Abandon the draw and announce another."),
    "draw_reason_missing": N_("Give a reason in one line."),
    "draws_before": N_("Other draws were announced before.{detail}"),
    "person_missing": N_("Name at least one person who gives words."),
    "name_twice": N_("Two people have the same name."),
    "words_twice": N_("Two people handed in the same hash. One of them needs other words."),
    "not_sealed": N_("The deals are not sealed.{detail}"),
    "no_shares": N_("Nobody has a share of the key for the sealed deals.{detail}"),
    "deals_key_missing": N_("The key for the sealed deals is missing. Recover it from the shares.{detail}"),
    "deal_sealed": N_("A deal is sealed.{detail}"),
    "deal_altered": N_("A sealed deal was changed, or the key is not its own.{detail}"),
    "set_altered": N_("A sealed tile set was changed, or the key is not its own.{detail}"),
    "words_altered": N_("The sealed words of the draw were changed, or the key is not their own.{detail}"),
    "no_deal": N_("The list contains no deals.{detail}"),
    "deal_twice": N_("A deal, or a seat of one, is listed twice.{detail}"),
    "deal_contradicts_itself": N_("The lines of a deal contradict each other.{detail}"),
    "seat_missing": N_("A deal has no line for one of the seats.{detail}"),
    "seat_unknown": N_("Seats and winds must be east, south, west or north.{detail}"),
    "not_a_deal": N_("These 136 tiles are not a complete deal.{detail}"),
    "not_a_tile": N_("Unknown tile: use 1m to 9m, 1p to 9p, 1s to 9s, 1z to 7z.{detail}"),
    "number_wrong": N_("A number is not valid or out of range.{detail}"),
    "set_at_two_tables": N_("Two deals of one tile set are planned for the same round.{detail}"),
    "set_not_said": N_("The set number is missing.{detail}"),
    "set_unknown": N_("A deal uses a tile set that has not been entered.{detail}"),
    "set_exists": N_("This tile set was already entered; it was not changed.{detail}"),
    "not_a_set": N_("These tiles are not a complete set of 136.{detail}"),
    "serial_twice": N_("A serial number appears twice.{detail}"),
    "secret_exposed": N_("Other users of this computer can read a secret file. Restrict its permissions.{detail}"),
    "file_exists": N_("A file already exists with different content.{detail}"),
    "file_unreadable": N_("A file of the event is damaged. Correct it or restore it from a copy.{detail}"),
    "red_fives_unknown": N_("A deal has red fives, which the event’s rules do not use.{detail}"),
    "player_not_listed": N_("Someone in the movement is not in the player list.{detail}"),
    "player_in_two_teams": N_("A player is in two teams.{detail}"),
    "plays_twice": N_("The plays are in two files in the event’s folder.{detail}"),
    "unwritable": N_("A file of the event cannot be written.{detail}"),
    "two_plays_at_once": N_("A table has two plays in one round.{detail}"),
    "session_rounds_wrong": N_("Each round of the movement must be in exactly one session.{detail}"),
    "riichi_misplanned": N_("A riichi session cannot be played as planned.{detail}"),
    "desk_read_only": N_(
        "The scorer’s disk is nearly full, so nothing can be changed at the desk. "
        "Free up disk space; the desk then resumes automatically."
    ),
    "no_such_session": N_("There is no sheet for that session."),
    "ruling_conflict": N_("A result or ruling was added after you opened the form. Check it again below."),
    "corrections_closed": N_("The correction period is over: only the head arbiter can make rulings now."),
    "head_arbiter_only": N_("Only the head arbiter can do this."),
    "effects_changed": N_("Results changed since this preview. The updated preview is below."),
    "nothing_to_undo": N_("This ruling does not exist or no longer counts."),
    "sits_elsewhere": N_("This person already sits elsewhere in one of these rounds.{detail}"),
    "part_wrong": N_("This is not a fraction such as 2/3.{detail}"),
    "bad_previous": N_("An event cannot begin from these standings.{detail}"),
    "rank_wrong": N_("The movement of a stage seated by rank has ranks that do not exist.{detail}"),
    "stages_wrong": N_("The stages do not fit the event.{detail}"),
    "sections_uneven": N_("The sections would not be of the same size.{detail}"),
    "no_format": N_("No format fits.{detail}"),
    "too_many_sets": N_("There are not that many tile sets.{detail}"),
    "too_few_qualified": N_("Not enough can qualify.{detail}"),
    "too_few_members": N_("A team has not enough players for its seats.{detail}"),
    "cut_tied": N_("A tie at the cut has to be decided first.{detail}"),
    "stage_not_over": N_("The previous stage is not over.{detail}"),
    "unknown_stage": N_("This stage cannot be seated now.{detail}"),
    "stage_seats_wrong": N_("The seats are not those of the stage’s movement. Ask for them again.{detail}"),
    "still_open": N_("The standings cannot be declared final yet.{detail}"),
    "unknown_infraction": N_("The rules have no such infraction.{detail}"),
    "penalty_wrong": N_("A warning costs no IMP, a fine at least one, and a dead hand is ruled on a play.{detail}"),
    "penalties_differ": N_("The rules have different penalties for these players. Make a ruling on each of them."),
    "fine_to_choose": N_("Enter the IMPs: the rules leave you the choice.{detail}"),
    "dead_hand_won": N_("This player has won the play. First correct its result.{detail}"),
    "nothing_to_appeal": N_("This ruling does not exist or no longer counts, so nobody can appeal against it."),
    "appealed_already": N_("There is an appeal against this ruling already."),
    "appeal_late": N_("The time for an appeal is over. The head arbiter may still admit it.{detail}"),
    "no_appeal": N_("There is no appeal to decide against this ruling."),
    "verdict_missing": N_("Enter what was decided."),
    "committee_missing": N_("Enter who decided."),
    "session_begun": N_("Hands of this session are recorded: it cannot be void."),
    "declared_final": N_("The standings are declared final.{detail}"),
    "team_event": N_("The seating of a team event stays as it is. Seat a substitute instead."),
    "plan_changed_since": N_("The seating was changed again since. Take back that change first."),
    "plan_play_begun": N_("A table has already begun one of these plays. Ask for a new seating again.{detail}"),
    "deal_over": N_("A deal of these plays is over and may be known, so nobody can play it any more.{detail}"),
    "player_leaves": N_("Somebody who leaves still has a seat. Ask for a new seating again.{detail}"),
    "nothing_changes": N_("Enter who arrives, who leaves, or who replaces whom."),
    "nothing_left": N_("Every play has begun: nobody can be seated any more."),
    "too_few_players": N_("Too few players are left for a table.{detail}"),
    "plan_too_large": N_("This reseats too many plays at once.{detail}"),
    "names_wrong": N_("Write one name per line, at most 64, each of up to 100 characters."),
    "plays_nothing": N_("This player has no plays from that round on.{detail}"),
    "scorer_busy": N_("The scorer did not answer in time. Check the history to see whether it was done."),
    "event_started": N_("A scorer has been started for this event, so the plan can no longer be changed."),
    "head_missing": N_("Start with name, title and rules."),
    "sheet_unknown": N_("Nothing found: check the number or code."),
    "too_many_misses": N_("Too many wrong codes. Try again in {wait} s."),
}
