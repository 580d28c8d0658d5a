"""The base class of objects that are closed at the end of a `with` block."""

from typing import Self


class Closing:
    """A context manager that is closed at the end of its `with` block, and may be closed earlier."""

    def close(self) -> None:
        """Release all resources. May be called twice."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
