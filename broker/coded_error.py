"""The base of errors that have a stable code. Each room's are in its `errors.py`; docs/codes.md lists the codes."""

from typing import ClassVar


class CodedError(Exception):
    """An error whose kind has a stable code, and the status with which a page or an API answers; texts may change."""

    code: ClassVar[str]
    status: ClassVar[int] = 400
    wait_s: int = 0
    """Seconds after which to ask again, where that helps."""

    def __init_subclass__(cls, code: str = "", status: int = 0) -> None:
        """Take the code and the status from the class statement; without, the base's hold."""
        super().__init_subclass__()
        cls.code = code or cls.code
        cls.status = status or cls.status
