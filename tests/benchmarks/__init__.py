"""Let SIGTERM end a benchmark: SDL would turn it into a request to close the window."""

import os

os.environ["SDL_NO_SIGNAL_HANDLERS"] = "1"
