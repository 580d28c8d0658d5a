"""What every test begins with."""

import os


def pytest_runtest_setup() -> None:
    """Begin with the usual umask: commands that keep their files to themselves change it for the whole process."""
    os.umask(0o022)
