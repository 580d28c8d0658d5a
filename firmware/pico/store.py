"""Edges that the table has not acknowledged. They are kept while the box has power, numbered from 0 at each start."""

from firmware.box.codec import LOST

SIZE = 256
"""Of edges; a press with a bad contact has some twenty."""


class Store:
    """The oldest are kept when there is no more room; that others were lost is kept in their place."""

    def __init__(self, closed: int) -> None:
        self.closed = closed
        """The contacts that were closed before the first edge that is kept: a bit for each, east lowest."""
        self.first = 0
        self._edges: list[tuple[int, int, int]] = []

    @property
    def next(self) -> int:
        """The number of the edge that comes next."""
        return self.first + len(self._edges)

    def add(self, seat: int, closed: int, us: int) -> None:
        """Keep an edge."""
        room = SIZE - len(self._edges)
        if room > 1:
            self._edges.append((seat, closed, us))
        elif room == 1:
            self._edges.append((LOST, 0, us))

    def get(self, number: int) -> "tuple[int, int, int]":
        """Return an edge that is kept: seat, closed, time."""
        return self._edges[number - self.first]

    def forget(self, until: int) -> None:
        """Let go of the edges before this one, which the table has."""
        if not self.first < until <= self.next:
            return
        for seat, closed, _ in self._edges[: until - self.first]:
            bit = 15 if seat == LOST else 1 << seat
            self.closed = self.closed & ~bit | (bit if closed else 0)
        self._edges = self._edges[until - self.first :]
        self.first = until
