"""Why something was refused, in the reader's language: a sentence by code, and beside it what was found, with values.

A refusal's text is a `Message`, English for scripts: the page translates it. A text that is no message stays English.
"""

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from broker.i18n import N_, Message
from broker.terms import SEAT_NAMES
from broker.web.i18n import HtmlTranslator

LONGEST_DETAIL: Final = 500
"""Characters of English beside a sentence: a program may name a thousand lines."""


def error_message(_: HtmlTranslator, error: BaseException) -> Markup:
    """Return why something was refused; where the refusal has a cause that has a sentence, by that, which is finer."""
    text = getattr(error, "text", None) or next((str_ for str_ in error.args if isinstance(str_, str)), "")
    codes = (getattr(one, "code", "") for one in (error.__cause__, error))
    return code_message(_, next((code for code in codes if code in PROBLEM), ""), text, getattr(error, "wait_s", 0))


def code_message(_: HtmlTranslator, code: str, text: str, wait: int = 0) -> Markup:
    """Say a code; `text` is what was found, `wait` after how many seconds one may ask again."""
    return _(PROBLEM.get(code, PROBLEM["other"]), wait=wait, detail=detail_message(_, text))


def detail_message(_: HtmlTranslator, text: str) -> Markup:
    """Return what stands beside a sentence: in the reader's language where it is a message, else in English."""
    if not text:
        return Markup()
    between = "" if _.language == "zh" else " "  # Chinese has nothing between two sentences
    if isinstance(text, Message):
        named = {
            name: _(SEAT_NAMES[value])
            for name, value in text.values.items()
            if isinstance(value, str) and value in SEAT_NAMES
        }
        said = _("({text})", text=_(text, **named))
        return Markup('{}<span class="detail">{}</span>').format(between, said)
    said = _("({text})", text=text[:LONGEST_DETAIL])
    return Markup('{}<span class="detail" lang="en">{}</span>').format(between, said)


PROBLEM: Final[Mapping[str, Message]] = {
    "login_refused": N_("Name and password do not belong together."),
    "login_delayed": N_("Too many tries. The next is heard in {wait} seconds."),
    "link_spent": N_("This link was used already or has run out. Start the scorer again for a new one, or log in."),
    "weak_password": N_("Choose a longer password, 12 to 200 characters, that is not guessed at once."),
    "account_taken": N_("There is an account of this name already."),
    "account_unknown": N_("There is no account of this name."),
    "bad_account": N_("This name or role cannot be."),
    "last_head_arbiter": N_("This is the only head arbiter. Make another first."),
    "not_allowed": N_("Your role may not see or do this."),
    "login_needed": N_("Log in first."),
    "page_unknown": N_("There is no such page."),
    "form_foreign": N_("This form did not come from this page. Load the page again."),
    "form_malformed": N_("This form cannot be read. Load the page again."),
    "form_too_large": N_("This is more than the form can take."),
    "call_attended": N_("Another arbiter has said something else about this call by now. Look who goes there."),
    "no_call": N_("This table does not call any more."),
    "alert_gone": N_("This alert is not in the list any more."),
    "no_device_waits": N_("That device serves the table by now, or has not asked to. Look again."),
    "no_riichi_record": N_("There is none of riichi: a record (PMN) has fan, and a wall for each seat."),
    "no_compared_plays": N_("This event has riichi sessions alone: nothing is compared."),
    "not_final": N_("This file is written once the standings are final: every play is in, and corrections are over."),
    "exports_busy": N_("Another export is being written. Ask again in {wait} seconds."),
    "bad_order": N_(
        "An order needs at least one table of this event, what to do, and a reason (of extra time 1 to 60 minutes)."
    ),
    "order_unsent": N_("The desk is not connected with the broker. The order was not given: go to the table."),
    "tables_unheard": N_(
        "None of these tables has said anything since the scorer was started. "
        "The order was not given: wait until one is connected, or go to the "
        "table."
    ),
    "order_given_before": N_(
        "This form has given another order already; nothing was given now. "
        "Look at the list below: if you mean this one too, give it."
    ),
    "table_has_device": N_(
        "A table that you chose has a device that is connected. Two devices at one table: the second is refused."
    ),
    "no_table_chosen": N_("Choose at least one table, and not more than 24 at once."),
    "pin_unusable": N_("A PIN has 4 to 12 digits, and is typed twice alike."),
    "plan_corrected": N_("By now this is otherwise than the plan in the folder has it.{detail}"),
    "nothing_corrected": N_("This is what the plan says already: nothing was changed.{detail}"),
    "plan_wrong": N_("Something there is missing, too long or not possible.{detail}"),
    "plan_only": N_("An organiser corrects the plan; rulings are the arbiters’.{detail}"),
    "not_printable": N_("There is a character that no screen shows. Type the text anew.{detail}"),
    "sessions_wrong": N_("These sessions do not fit the movement: each round is in one of them.{detail}"),
    "other": N_("This cannot be done as it stands.{detail}"),
    "bad_ruling": N_("What was sent has something that no form of the desk sends. Load the page again.{detail}"),
    "ruling_kind_missing": N_("Choose what kind of ruling it is."),
    "subject_missing": N_("Open the form from the play, or from the deal, that the ruling is about."),
    "nothing_given": N_("Nothing is given or taken: fill in a number for at least one player."),
    "player_missing": N_("Say which player it is, by name or id."),
    "player_ambiguous": N_("Several players are called so: write the whole name, or the id.{detail}"),
    "imp_out_of_range": N_("So many IMP cannot be given or taken.{detail}"),
    "deadline_out_of_range": N_(
        "The end of corrections is said in minutes from now, 0 (at once) or more, and not too far off."
    ),
    "substitute_unnamed": N_("Give the substitute a name, of at most 100 characters."),
    "round_missing": N_("Say from which round on."),
    "hand_value_out_of_range": N_("No hand has this value.{detail}"),
    "setting_unknown": N_("There is no such choice.{detail}"),
    "reason_wrong": N_("Say why: the reason is missing, or too long."),
    "number_unreadable": N_("A field that asks for a whole number has something else.{detail}"),
    "ending_missing": N_("Say how the play ended: on a discard, self-drawn, or as a draw; of a discard, whose."),
    "tables_unreadable": N_(
        "Write tables by number, and from – to with a hyphen: 1 2 5-9. Of groups, a line each.{detail}"
    ),
    "groups_wrong": N_("Each group is of tables that play this deal, and no table is in two.{detail}"),
    "not_of_play": N_("Somebody named here is not of this play."),
    "gifts_missing": N_("An adjusted play gives something, or 0, to each of its four players."),
    "seats_doubled": N_("Four different players sit at a table, one a seat."),
    "gifts_stand": N_("Somebody who would leave this play got or paid IMPs here: take that back first.{detail}"),
    "unknown_play": N_("There is no such play.{detail}"),
    "unknown_deal": N_("There is no such deal in this event.{detail}"),
    "nobody_of_event": N_("Somebody named here is not of this event.{detail}"),
    "reopen_at_table": N_("A play is reopened at its table; here it can be corrected."),
    "id_reused": N_("This form was sent before, with something else in it. Open it anew."),
    "impossible_result": N_("The rules of the event know no such outcome.{detail}"),
    "wrong_points": N_("The points do not follow from that outcome.{detail}"),
    "fine_not_in_profile": N_("The rules of the event know no such fine.{detail}"),
    "below_minimum": N_("The hand value is under the minimum of a win.{detail}"),
    "draw_with_winner": N_("A draw has no winner."),
    "discarder_missing": N_("Whose tile was it? A win on a discard has a discarder."),
    "discarder_not_asked": N_("Nobody discarded that tile: leave the discarder empty."),
    "discarder_wins": N_("Nobody wins on the own discard."),
    "loser_wins": N_("Nobody wins on the own discard.{detail}"),
    "several_self_drawn": N_("Only one can win on a drawn tile."),
    "several_winners": N_("Only the nearest in turn order wins under these rules."),
    "winner_missing": N_("Nobody is named who won."),
    "hand_missing": N_("Of a hand of riichi, give han and fu, or who was tenpai."),
    "hand_not_asked": N_("Han and fu are of riichi, which this event does not play."),
    "hand_differs": N_("The hand says another outcome than the rest.{detail}"),
    "han_missing": N_("Han are missing: one is the least.{detail}"),
    "impossible_fu": N_("No hand has so many fu: 25, or tens from 20 on.{detail}"),
    "value_missing": N_("Give han and fu; from 5 han on han alone, or yakuman.{detail}"),
    "negative_yakuman": N_("The number of yakuman cannot be.{detail}"),
    "pao_not_asked": N_("Nobody can be responsible for that hand.{detail}"),
    "responsible_wins": N_("Nobody is responsible for the own hand.{detail}"),
    "abort_not_played": N_("That breaks no hand off under these rules.{detail}"),
    "nagashi_not_played": N_("Nagashi does not count under these rules."),
    "loser_missing": N_("Whose tile was it? A ron has a discarder."),
    "reason_missing": N_("Say for what reason the hand was broken off."),
    "unknown_profile": N_("There is no such rule profile.{detail}"),
    "bad_profile": N_("This rule profile cannot be used.{detail}"),
    "malformed": N_("Something there is missing, or not written as it has to be.{detail}"),
    "not_planned": N_("The plan has no such play: look at round, table and deal.{detail}"),
    "sheet_points": N_(
        "The points on the sheet do not follow from what was keyed: look at "
        "the hand values, and whose tile it was.{detail}"
    ),
    "sheet_wrong": N_("A field of the sheet is empty, or has what cannot be there.{detail}"),
    "sheet_twice": N_("A play is in the list twice.{detail}"),
    "paper_differs": N_("The table has another result than this sheet: rule on the play.{detail}"),
    "sheets_differ": N_(
        "Another sheet of this play was keyed before, and says something else: "
        "look at both, and rule on the play.{detail}"
    ),
    "sheet_ruled_out": N_(
        "An arbiter has ruled on this play: the ruling counts, not this sheet. "
        "Take it back first if the sheet is right.{detail}"
    ),
    "keyings_differ": N_("Two people have keyed this sheet differently: an arbiter settles it below."),
    "keying_gone": N_("That reading is not open any more. Look again."),
    "no_riichi_sheet": N_("Sheets have hand values: a hand of riichi is corrected under Rulings."),
    "no_plays": N_("There is no play there: in the list, or at these tables in these rounds.{detail}"),
    "too_large": N_("That is too much at once.{detail}"),
    "not_utf8": N_("The file is not UTF-8. Save it anew in that encoding.{detail}"),
    "heading_wrong": N_("The first line does not name the columns that are needed.{detail}"),
    "line_incomplete": N_("A line has not as many fields as the heading.{detail}"),
    "scorer_error": N_("The scorer cannot do this.{detail}"),
    "people_store_broken": N_(
        "The file of accounts cannot be read or written: nothing was done. Look at the machine.{detail}"
    ),
    "store_error": N_("The event’s store cannot do this: nothing was done. Look at the machine.{detail}"),
    "store_in_use": N_("Another program works on this event.{detail}"),
    "store_broken": N_("The event’s store cannot be read or written. Look at the disk.{detail}"),
    "store_lost": N_("The event’s store cannot be reached. Look at its server.{detail}"),
    "bad_event": N_("The event cannot start as it is.{detail}"),
    "file_missing": N_("A step of the set-up is still to be made, or a file of the event is lost.{detail}"),
    "file_failed": N_("A file of the event cannot be read or written.{detail}"),
    "other_event": N_("The deals there were committed to for an event of another name.{detail}"),
    "event_not_said": N_("It is not said of which event the deals are.{detail}"),
    "not_committed": N_(
        "The deals have no commitment yet: make them here, or write it with homologue deal commit.{detail}"
    ),
    "root_differs": N_("The commitment does not belong to these deals: somebody has changed one of them.{detail}"),
    "player_without_play": N_("Somebody in the list has nothing to play.{detail}"),
    "nobody_compared": N_(
        "Every deal is played at one table only: nobody is compared, and every "
        "IMP is 0. Take more rounds, or say that it is meant.{detail}"
    ),
    "deal_not_compared": N_("These deals are played at one table only: nobody is compared there.{detail}"),
    "deal_at_few_tables": N_(
        "These deals are not played at all tables: fewer players are compared with each other.{detail}"
    ),
    "no_players": N_("The list has a heading and no players: nothing was changed.{detail}"),
    "name_missing": N_("A line of the list has no name.{detail}"),
    "named_alike": N_(
        "These have one and the same name. If one line is there twice, take it "
        "out: it makes a player who never comes.{detail}"
    ),
    "country_unknown": N_("No country has this code: two letters as in FR, or three as in FRA.{detail}"),
    "country_wrong": N_("A country is written as two or three capital letters.{detail}"),
    "event_name_wrong": N_(
        "The event’s name has small letters, digits and hyphens, 32 at most, "
        "and begins with a letter or a digit: cup-2026. What people read is "
        "the title.{detail}"
    ),
    "title_wrong": N_("The event needs a title of 1 to 100 printable characters."),
    "public_address_wrong": N_(
        "The public address is none such as https://results.example.org: http "
        "or https, a host, a path if need be, at most 64 characters.{detail}"
    ),
    "player_id_wrong": N_(
        "An id in the list of players is not 1 to 32 letters, digits, hyphens or underscores.{detail}"
    ),
    "player_name_wrong": N_(
        "A name in the list of players is too long, or has characters that no screen shows.{detail}"
    ),
    "player_detail_wrong": N_(
        "A column of the list of players is too long, or has characters that no screen shows.{detail}"
    ),
    "player_listed_twice": N_("Two lines of the list have the same number.{detail}"),
    "players_have_plays": N_(
        "Somebody who has plays is not in this list. To change it all the same, tick that the movement goes.{detail}"
    ),
    "teams_do_not_fit": N_("The teams do not fit: each has four players or more, and everybody is in one.{detail}"),
    "player_without_team": N_("Somebody is in no team.{detail}"),
    "team_incomplete": N_("A team has not one player at each wind of a deal.{detail}"),
    "teammates_meet": N_("Two of a team sit at one table.{detail}"),
    "impossible_size": N_("No movement can be made for so many players.{detail}"),
    "unknown_column": N_("The first line names a column that a movement does not have.{detail}"),
    "missing_column": N_("The first line lacks a column of a movement.{detail}"),
    "not_four_players": N_("Four different players sit at a table.{detail}"),
    "players_change": N_("The players of a table change within a round.{detail}"),
    "deal_at_two_tables": N_("One deal lies at more tables in a round than there are carriers of it.{detail}"),
    "table_repeats_deal": N_("A table has a deal twice.{detail}"),
    "player_at_two_tables": N_("Somebody sits twice in one round.{detail}"),
    "player_repeats_deal": N_("Somebody plays a deal twice.{detail}"),
    "deal_unknown": N_(
        "The deals that there are do not suffice for this movement: take them "
        "out and make them anew, or change the movement.{detail}"
    ),
    "no_deals": N_("There are no deals to take out."),
    "deals_exist": N_("There are deals already, and they stay. Take them out first.{detail}"),
    "no_deal": N_("The list has no deal.{detail}"),
    "deal_twice": N_("A deal, or a seat of one, is listed twice.{detail}"),
    "deal_contradicts_itself": N_("The lines of a deal say two things of it.{detail}"),
    "seat_missing": N_("A deal lacks the line of a seat.{detail}"),
    "seat_unknown": N_("A seat or wind is none of east, south, west, north.{detail}"),
    "not_a_deal": N_("Those 136 tiles are no deal.{detail}"),
    "not_a_tile": N_("That is no tile: 1m to 9m, 1p to 9p, 1s to 9s, 1z to 7z.{detail}"),
    "number_wrong": N_("A number is none, or out of its bounds.{detail}"),
    "set_not_said": N_("It is not said which set.{detail}"),
    "set_unknown": N_("A deal lies in a set that has not been entered.{detail}"),
    "set_exists": N_("That set was entered already, and stays.{detail}"),
    "not_a_set": N_("Those tiles are no set of 136.{detail}"),
    "serial_twice": N_("A serial is there twice.{detail}"),
    "secret_exposed": N_("Others on this machine may read what must stay secret.{detail}"),
    "file_exists": N_("A file is there already and says something else.{detail}"),
    "file_unreadable": N_("A file of the event cannot be read.{detail}"),
    "red_fives_unknown": N_("A deal has red fives, which the rules of the event do not know.{detail}"),
    "player_not_listed": N_("Somebody who is to play is not in the list of players.{detail}"),
    "player_in_two_teams": N_("Somebody is in two teams.{detail}"),
    "plays_twice": N_("The plays stand in two files of the event’s folder.{detail}"),
    "unwritable": N_("A file of the event cannot be written.{detail}"),
    "two_plays_at_once": N_("A table has two plays in one round.{detail}"),
    "session_rounds_wrong": N_("The sessions do not have each round of the movement once.{detail}"),
    "riichi_misplanned": N_("A session of riichi cannot be played as it is planned.{detail}"),
    "no_such_session": N_("There is no sheet of that session."),
    "ruling_conflict": N_("Something was entered or ruled here since you opened the form. Look at it again below."),
    "corrections_closed": N_("The correction period is over: the head arbiter alone rules now."),
    "head_arbiter_only": N_("This is the head arbiter’s alone."),
    "effects_changed": N_("Since this was shown, something else happened: whom the ruling moves is shown anew below."),
    "nothing_to_undo": N_("There is no such ruling, or it counts no longer."),
    "sits_elsewhere": N_("This person sits somewhere else in one of these rounds.{detail}"),
    "plays_nothing": N_("This player has nothing to play from that round on.{detail}"),
    "scorer_busy": N_("The scorer has not answered in time. Look in the history whether it was done."),
    "event_started": N_(
        "A scorer has been started on this event: its plan is not changed any more, since results belong to it."
    ),
    "head_missing": N_("Begin with name, title and rules."),
    "sheet_unknown": N_("There is nothing here: look at the number or the code again."),
    "too_many_misses": N_("Too many codes that do not exist. The next is looked at in {wait} seconds."),
}

REFUSED_MESSAGE: Final[Mapping[str, Message]] = {
    "already_recorded": N_("the play has its result already. To change it, rule on the play."),
    "another_device": N_("another device serves this table. Both keep what they have; switch one of them off."),
    "conflict": N_(
        "a fact of the same number was there first, and says otherwise. Perhaps two devices work for this table."
    ),
    "fine_not_in_profile": N_("the rules of the event know no such fine."),
    "id_reused": N_("its id belongs to another message. Perhaps the journal of a device was copied."),
    "impossible_result": N_("there is no such outcome under the rules of the event."),
    "malformed": N_("it is not written as it has to be. Look for a device of another version."),
    "not_for_scorer": N_("tables send no such message."),
    "not_planned": N_("the table has nothing of the kind in that round."),
    "not_ruled_here": N_("no table rules for the head arbiter."),
    "seq_out_of_range": N_("too much of what came before it is missing, and has to arrive first."),
    "too_large": N_("it is longer than a message may be."),
    "too_many_rulings": N_("this table has told twenty rulings on one play. Look at its device, and rule at the desk."),
    "too_much_of_arbiters": N_(
        "this table has told two hundred times in one round what arbiters do there. Look at its device."
    ),
    "unknown_table": N_("the event has no table of that number."),
    "unknown_topic": N_("there is no such topic. Look for a device of another program or version."),
    "wrong_deal": N_("it is about another deal than its topic."),
    "wrong_event": N_("it belongs to another event, for which the device is probably still set up."),
    "wrong_players": N_("the players are not those who are planned there, one a seat."),
    "wrong_points": N_("the points do not follow from the outcome under the rules of the event."),
    "wrong_profile": N_("it was scored by other rules than those of the event."),
    "wrong_table": N_("it speaks for another table than its topic. Look how the device is set up."),
}

ALERT: Final[Mapping[str, Message]] = {
    "table_lost": N_("Table {table} has gone without signing off."),
    "two_devices": N_("Two devices speak for table {table}."),
    "gap": N_("Table {table}: what came before fact {number} is missing."),
    "fouled": N_("Table {table}: deal {deal} is played in another form."),
    "unverified": N_("Table {table}: deal {deal} was restored without verification."),
    "session_differs": N_("Table {table}: entry {entry} of the riichi session does not follow from those before it."),
    "paper_differs": N_("Table {table}: round {round} was keyed from paper, and the table has entered another result."),
    "settled_before": N_(
        "Table {table}: a result of round {round} (deal {deal}) has come, and "
        "it does not count: {kind}, ruled before by {author}."
    ),
    "ruled_at_table": N_(
        "Table {table}: {kind}, ruled at the table on deal {deal}, round {round}, by {author}: {reason}"
    ),
    "fined_at_table": N_("Table {table}: fined on deal {deal}, round {round}: {fines}; by {author}: {reason}"),
    "ruled_after_end": N_(
        "Table {table}: {kind}, ruled on deal {deal}, round {round}, told after the correction period."
    ),
    "overridden": N_("Table {table}: deal {deal} goes on by an arbiter’s word: {guards}. Reason: {reason}"),
    "seating_differs": N_("Table {table}: not seated as planned for deal {deal}."),
    "player_repeats_deal": N_("Table {table}: {names} had deal {deal} before."),
    "device_unwell": N_("Table {table}: {what}"),
    "device_well": N_("Table {table}: well again: {what}"),
    "clock_ahead": N_("Table {table}: its clock is {span} ahead of this machine’s."),
    "clock_behind": N_("Table {table}: its clock is {span} behind this machine’s."),
    "clock_right": N_("Table {table}: its clock is right again."),
    "backup_failed": N_("Copies of the event: {text}"),
    "backup_resumed": N_("Copies of the event are made again."),
    "standings_unwritten": N_("The file of standings cannot be written: {text}"),
}
