"""Logging: one configuration for the kiosk, the scorer and commands. Log events have a name and keys, not sentences.

The output is lines for people or, with `HOMOLOGUE_LOG=json`, JSON. `HOMOLOGUE_LOG_LEVEL` sets the level (debug, info,
warning, error). Entries logged while a play is being processed carry the play's id: `in_play`.

Never log a secret (password, PIN, token or key) or the face of a tile.
"""

import logging
import os
import sys
from contextlib import AbstractContextManager
from typing import Any, Final, TextIO

import structlog
from structlog.contextvars import bind_contextvars, bound_contextvars, merge_contextvars, unbind_contextvars
from structlog.stdlib import BoundLogger, ProcessorFormatter, add_log_level, add_logger_name, filter_by_level
from structlog.types import Processor

FORM: Final = "HOMOLOGUE_LOG"
LEVEL: Final = "HOMOLOGUE_LOG_LEVEL"
JSON: Final = "json"

EVENT_PROCESSORS: Final[tuple[Processor, ...]] = (
    add_log_level,
    add_logger_name,
    structlog.processors.TimeStamper("iso"),
    structlog.processors.format_exc_info,
)


def get_logger(name: str) -> BoundLogger:
    """Return the logger of a part of the program, such as `homologue.kiosk`."""
    logger: BoundLogger = structlog.wrap_logger(
        logging.getLogger(name),
        processors=[filter_by_level, merge_contextvars, ProcessorFormatter.wrap_for_formatter],
        wrapper_class=BoundLogger,
    )
    return logger


def set_up_logs(level: int, stream: TextIO | None = None) -> None:
    """Log everything from a level upwards to a stream (standard output), unless the environment sets another level."""
    stream = stream or sys.stdout
    last: Processor = structlog.dev.ConsoleRenderer(colors=stream.isatty())
    if os.environ.get(FORM) == JSON:
        last = structlog.processors.JSONRenderer(ensure_ascii=False, default=str)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=[merge_contextvars],  # other libraries' records
            processors=[*EVENT_PROCESSORS, ProcessorFormatter.remove_processors_meta, last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    wanted = logging.getLevelNamesMapping().get(os.environ.get(LEVEL, "").upper(), level)
    root.setLevel(wanted)


def play_id(round_: int, table: int, deal: int) -> str:
    """Return the id of a play in the logs of every part of the program."""
    return f"{round_}.{table}.{deal}"


def in_play(round_: int, table: int, deal: int) -> AbstractContextManager[Any]:
    """Return a context manager that adds a play's id to everything logged within it."""
    return bound_contextvars(play=play_id(round_, table, deal))


def follow_play(round_: int | None, table: int, deal: int | None) -> None:
    """Add a play's id and table, or only the table, to everything that this thread logs from now on."""
    bind_contextvars(table=table)
    if round_ is None or deal is None:
        unbind_contextvars("play")
    else:
        bind_contextvars(play=play_id(round_, table, deal))
