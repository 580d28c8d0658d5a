"""What is wrong with a ruling as a form has it, by code: what is put right in another way has a code of its own."""

import re
from typing import Final, NamedTuple

from msgspec import ValidationError

from broker.contract.wire import Refused
from broker.contract.words import AWARD_IMP, FINE_IMP


class Problem(NamedTuple):
    """A code, where msgspec stumbles, and what is said; where that is empty, what msgspec says."""

    code: str
    where: str
    text: str


PROBLEMS: Final = (
    Problem("nothing_given", r"length >= 1 - at `\$\.decision\.(gives|takes)`", "nobody is given or fined any IMP"),
    Problem(
        "player_missing", r"`\$\.decision\.players?[\[`]|`key` in `\$\.decision\.(gives|takes)`", "nobody is named"
    ),
    Problem("imp_out_of_range", r"`\$\.decision\.gives\[", f"IMP are {-AWARD_IMP} to {AWARD_IMP}"),
    Problem("imp_out_of_range", r"`\$\.decision\.takes\[", f"a fine is 1 to {FINE_IMP} IMP"),
    Problem("deadline_out_of_range", r"`\$\.decision\.at`", "the minutes are too many"),
    Problem("substitute_unnamed", r"`\$\.decision\.name`", "a name has 1 to 100 characters"),
    Problem("round_missing", r"`\$\.decision\.first_round`", "it is not said from which round on"),
    Problem("unknown_deal", r"`\$\.decision\.played`", "it is not said which deal was played"),
    Problem("groups_wrong", r"`\$\.decision\.groups", "groups are of tables of this event, at most 50 groups"),
    Problem("hand_value_out_of_range", r"`\$\.(decision\.winners|wins)\[\.\.\.\](\.(han|fu|yakuman))?`", ""),
    Problem("ending_missing", r"`\$\.reason`", "the form does not say why the hand was aborted"),
)


def refusal(error: ValidationError) -> Refused:
    """Give the refusal of a form. What no form of the desk sends is `bad_ruling`."""
    said = str(error)[:300]
    for problem in PROBLEMS:
        if re.search(problem.where, said):
            return Refused(problem.code, problem.text or said)
    return Refused("bad_ruling", said)
