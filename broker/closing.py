"""What is open for the length of a `with`, whatever it is."""

from typing import Self


class Closing:
    """Something that is closed at the end of its `with` block, and may be closed before."""

    def close(self) -> None:
        """Let go of everything; may be called twice."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
