"""A riichi session from hand to hand: who pays what, who deals next, when it ends."""
