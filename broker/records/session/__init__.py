"""The sheet of a riichi session: every hand, what it paid, who has which place."""
