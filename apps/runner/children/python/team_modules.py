"""The team's modules that a program needs: found by `import` after Python's own, and by `svc.import_module`."""

import ast
import builtins
import importlib
import linecache
import sys
import types
from importlib.machinery import ModuleSpec

import missing
from program import futures_and_rest, imports_anywhere, leading_imports

OWN = frozenset(sys.stdlib_module_names)


class TeamModules:
    """Those of one run. A module is made at its first import, and then the same for all that mean it."""

    def __init__(self, settings, svc):
        self.modules = settings.get("modules") or []
        self.of_process = indexes(settings.get("imports") or [])
        self.of_module = [indexes(each["imports"]) for each in self.modules]
        self.loaded = {}
        self.by_namespace = {}
        self.globals = {}
        self.names = settings["names"]
        # What a name means where nothing says who asks: to the process, else to the first module that imports it.
        self.plain = {}
        for imports in (self.of_process, *self.of_module):
            for (name, tag), index in imports.items():
                if not tag:
                    self.plain.setdefault(name, index)
        missing.prepare(
            [*self.plain, *self.names], settings.get("packages"), settings.get("unmet") or (), settings.get("packagesFault")
        )
        self.packages = {name[:at] for name in self.plain for at, sign in enumerate(name) if sign == "."}
        svc.import_module = svc.importModule = self.import_module
        setattr(svc, "import", self.import_module)

    def install(self, svc):
        """In front of what finds installed packages; Python's own modules keep their names."""
        if not self.modules:
            return
        self.globals = {name: svc for name in self.names}
        sys.meta_path.insert(0, self)
        every = [item for imports in self.of_module for item in imports.items()]
        if any(not tag and self.plain[name] != index for (name, tag), index in every):
            self.import_for_anybody = builtins.__import__
            builtins.__import__ = self.import_for

    def has(self, name):
        """Whether an import of this name leads to a module of the team, or to a package of such."""
        return name.partition(".")[0] not in OWN and (name in self.plain or name in self.packages)

    def leading_imports(self, index):
        tree = self.tree(index)
        return [] if tree is None else leading_imports(futures_and_rest(tree.body)[1])

    def imports_anywhere(self, index):
        tree = self.tree(index)
        return [] if tree is None else imports_anywhere(tree)

    def tree(self, index):
        try:
            return ast.parse(self.modules[index]["source"])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def find_spec(self, name, path=None, target=None):
        if not self.has(name):
            return None
        return ModuleSpec(name, self, origin=self.origin(name), is_package=name in self.packages)

    def origin(self, name):
        index = self.plain.get(name)
        return None if index is None else self.modules[index]["fileName"]

    def create_module(self, spec):
        index = self.plain.get(spec.name)
        return None if index is None else self.loaded.setdefault(index, types.ModuleType(spec.name))

    def exec_module(self, module):
        index = self.plain.get(module.__name__)
        if index is not None:
            self.execute(index, module)

    def execute(self, index, module):
        file_name, source = self.modules[index]["fileName"], self.modules[index]["source"].removeprefix("\ufeff")
        linecache.cache[file_name] = (len(source), None, source.splitlines(keepends=True), file_name)
        module.__dict__.update(self.globals, __file__=file_name)
        self.by_namespace[id(module.__dict__)] = self.of_module[index]
        try:
            exec(compile(source, file_name, "exec", dont_inherit=True), module.__dict__)
        except BaseException:
            self.loaded.pop(index, None)
            raise

    def load(self, index):
        """One that its name alone does not lead to."""
        module = self.loaded.get(index)
        if module is None:
            module = self.loaded[index] = types.ModuleType(self.modules[index]["name"])
            self.execute(index, module)
        return module

    def import_module(self, name, tag_or_alias=None, *, tagOrAlias=None):
        """`svc.import_module`: gives the team's module as whoever calls means it."""
        tag_or_alias = tag_or_alias or tagOrAlias
        if not isinstance(name, str) or name == "":
            raise TypeError("A module must be named by its name")
        imports = self.by_namespace.get(id(sys._getframe(1).f_globals), self.of_process)
        index = imports.get((name, tag_or_alias or ""))
        if index is None:
            version = f" with the version or alias '{tag_or_alias}'" if tag_or_alias else ""
            hint = "it is no module of the team, or its name does not stand in the source as a literal"
            hint = missing.versions_of(name, tag_or_alias or "") or hint + missing.hint(name)
            raise ModuleNotFoundError(f"Cannot find module '{name}'{version}: {hint}", name=name)
        if not tag_or_alias and self.plain.get(name) == index and name.partition(".")[0] not in OWN:
            return importlib.import_module(name)
        return self.load(index)

    def import_for(self, name, globals=None, locals=None, fromlist=(), level=0):
        """`import` where one name means different modules to those that import it."""
        index = self.by_namespace.get(id(globals), {}).get((name, "")) if level == 0 else None
        if index is None or index == self.plain[name] or name in OWN or ("." in name and not fromlist):
            return self.import_for_anybody(name, globals, locals, fromlist, level)
        return self.load(index)


def indexes(imports):
    return {(each["name"], each["tag"]): each["module"] for each in imports}
