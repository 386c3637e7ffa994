"""Modules of Python's own library that are changed for process code, once something imports them: to load them takes time."""

import sys
from importlib.machinery import PathFinder


class Changed:
    """Finds these modules, by name, and gives each to its function when it has been loaded."""

    def __init__(self, changes):
        self.changes = changes

    def find_spec(self, name, path=None, target=None):
        change = self.changes.get(name)
        spec = change and PathFinder.find_spec(name, path, target)
        if spec:
            load = spec.loader.exec_module

            def load_and_change(module):
                load(module)
                change(module)

            spec.loader.exec_module = load_and_change
        return spec


def change(changes):
    """`changes`: a function for each name of a module that is not imported yet."""
    sys.meta_path.insert(0, Changed(changes))
