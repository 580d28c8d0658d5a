"""Benchmarks end when they are told to: SDL would take SIGTERM for a window that is closed, and end only half."""

import os

os.environ["SDL_NO_SIGNAL_HANDLERS"] = "1"
