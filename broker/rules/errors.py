"""What a player, a table or an organiser did that the rules do not allow: values with stable codes."""


class RuleError(ValueError):
    """Input that the rules refuse. `code` is stable and listed in docs/codes.md."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def refuse_if(wrong: bool, code: str, text: str) -> None:  # noqa: FBT001 - reads as a sentence
    """Raise RuleError of this code where something is wrong."""
    if wrong:
        raise RuleError(code, text)
