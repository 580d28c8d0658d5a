"""What a player, a table or an organiser did that the rules do not allow: values with stable codes."""


class RuleError(ValueError):
    """Input that the rules refuse. `code` is stable and listed in docs/codes.md."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
