"""What does not fit the moment, as values with stable codes."""


class NotNow(Exception):
    """An event that the table's state does not allow; the state stays as it was. `code` is in docs/codes.md."""

    def __init__(self, code: str, text: str = "") -> None:
        super().__init__(f"{code}: {text}" if text else code)
        self.code = code
        self.text = text
