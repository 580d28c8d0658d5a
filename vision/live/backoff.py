"""How long to wait before a camera that failed is tried again."""

FIRST_S = 0.5
MOST_S = 4.0


def pause_after(failures: int) -> float:
    """Give seconds to wait after so many failures in a row: twice as long each time, up to `MOST_S`."""
    if failures <= 0:
        return 0.0
    return float(min(MOST_S, FIRST_S * 2.0 ** min(failures - 1, 10)))
