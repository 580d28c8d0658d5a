"""Benchmarks. One that is told to end does so: SDL would take SIGTERM for a window that is closed, and end it halfway."""

import os

os.environ["SDL_NO_SIGNAL_HANDLERS"] = "1"
