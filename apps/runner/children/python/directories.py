"""The private directories of runs: each has its own, which is gone under its name when the run is over."""

import os

from removal import remove

# Names come again after so many runs: the C library keeps every text that was ever in the environment.
NAMES = 100


class Directories:
    def __init__(self):
        self.root = os.getcwd()
        self.number = 0
        self.path = None

    def make(self):
        """Makes the directory of the next run."""
        self.number = self.number % NAMES + 1
        self.path = f"{self.root}/{self.number}"
        os.mkdir(self.path, 0o700)

    def empty(self):
        """Removes it and all that lies beside it. Throws OSError for what can't be removed."""
        try:
            os.rmdir(self.path)
        except OSError:
            pass  # It is looked at again below.
        for name in os.listdir(self.root):
            remove(f"{self.root}/{name}")
