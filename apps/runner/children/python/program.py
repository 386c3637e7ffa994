"""
One version of a process's source as code that behaves as a module and may `return` at its top level. The source becomes
the body of a function all of whose names are global; its code then runs as a module's does, in the module's namespace.
Lines and columns stay what the user wrote.
"""

import __future__
import ast
import builtins
import linecache
import marshal
import sys
import types

END = "\0the end of the source"
# Under this name, which no source can have, what is compiled here finds its program.
PROGRAM = "the program"
NAME = "<module>"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
EXITS = ("sys.exit", "exit", "quit", "SystemExit")
# What calls, in another thread or process, what it is given.
STARTERS = frozenset(
    "Thread Timer Process submit map imap imap_unordered starmap apply apply_async map_async starmap_async "
    "run_in_executor to_thread".split()
)
# CO_OPTIMIZED, CO_NEWLOCALS; CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR: `inspect` has them, and takes long.
MODULE_LIKE = ~(0x1 | 0x2)
GENERATOR_LIKE = 0x20 | 0x80 | 0x200
BODIES = ("body", "orelse", "finalbody")


class Program:
    """
    `run()` gives what the top level returned, or END. Compiling throws what Python throws, with the user's line. `ready`
    is what `packed()` of another one of the same source gave: it saves the compiling.
    """

    def __init__(self, source, file_name, ready=None):
        self.source = source.removeprefix("\ufeff")
        self.file_name = file_name
        self.namespace = None
        # Of `main`, where the source has called it.
        self.has_ended = False
        self.result = None
        # Tracebacks, warnings and inspect find the lines here.
        lines = self.source.splitlines(keepends=True)
        linecache.cache[file_name] = (len(self.source), None, lines, file_name)
        if ready:
            self.code, self.doc, self.bound_futures, self.has_annotations, *parts = marshal.loads(ready)
            self.imports, self.later_imports, self.leaves_main = parts
            return
        try:
            self.compile()
        except SyntaxError as error:
            if error.text is None and error.lineno is not None and 0 < error.lineno <= len(lines):
                error.text = lines[error.lineno - 1]
            raise

    def compile(self):
        tree = ast.parse(self.source, self.file_name)
        self.doc = ast.get_docstring(tree, clean=False)
        self.futures, body = futures_and_rest(tree.body)
        self.lazy_annotations = sys.version_info >= (3, 14) or any(
            alias.name == "annotations" for each in self.futures for alias in each.names
        )
        self.has_annotations = False
        self.imports = leading_imports(body)
        self.later_imports = imports_anywhere(tree)
        mains = [each for each in at_top_level(body, is_definition) if is_main(each)]
        # Whether it is left to be called: many scripts call it themselves, which is noted when they do.
        self.leaves_main = bool(mains) and not any(map(starts_main, at_top_level(body, is_definition)))
        if mains:
            return_main(body, any(isinstance(each, ast.AsyncFunctionDef) for each in mains))
        for each in mains:
            note_calls(each)
        body = self.rewritten(body)
        # The first time tells which names the compiler takes for local.
        code = self.compiled(body)
        names = [each for each in (*code.co_varnames, *code.co_cellvars) if each.isidentifier()]
        if names:
            code = self.compiled([ast.copy_location(ast.Global(names=names), position()), *body])
        if code.co_flags & GENERATOR_LIKE:
            raise self.misplaced_yield(body)
        names = [alias for each in self.futures for alias in each.names]
        self.bound_futures = [(alias.asname or alias.name, alias.name) for alias in names]
        self.code = code.replace(co_flags=code.co_flags & MODULE_LIKE)

    def packed(self):
        parts = self.imports, self.later_imports, self.leaves_main
        return marshal.dumps((self.code, self.doc, self.bound_futures, self.has_annotations, *parts))

    def compiled(self, body):
        end = ast.copy_location(ast.Return(ast.copy_location(ast.Constant(END), position())), position())
        arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        function = ast.FunctionDef(name=NAME, args=arguments, body=[*body, end], decorator_list=[], type_params=[])
        tree = ast.Module(body=[*self.futures, ast.copy_location(function, position())], type_ignores=[])
        whole = compile(tree, self.file_name, "exec", dont_inherit=True)
        return next(each for each in whole.co_consts if isinstance(each, types.CodeType))

    def rewritten(self, statements):
        """Statements of the top level, also those inside others, but not what is inside functions and classes."""
        made = []
        for each in statements:
            if isinstance(each, ast.ImportFrom) and each.names[0].name == "*":
                made.append(star_import(each))
            elif isinstance(each, ast.AnnAssign) and each.simple:
                made.extend(self.annotated(each))
            elif isinstance(each, (*FUNCTIONS, ast.ClassDef)):
                made.append(each)
            else:
                made.append(self.rewritten_inside(each))
        return made

    def rewritten_inside(self, statement):
        for holder in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            for name in BODIES:
                inner = getattr(holder, name, None)
                if isinstance(inner, list) and inner:
                    setattr(holder, name, self.rewritten(inner))
        return statement

    def annotated(self, statement):
        """A name with an annotation, which a function could not have for a global one."""
        self.has_annotations = True
        annotation = statement.annotation
        if self.lazy_annotations:
            annotation = ast.copy_location(ast.Constant(ast.unparse(annotation)), annotation)
        key = ast.Constant(statement.target.id)
        noted = ast.Subscript(ast.Name("__annotations__", ast.Load()), key, ast.Store())
        for each in (key, noted, noted.value):
            ast.copy_location(each, statement)
        if statement.value is not None:
            yield ast.copy_location(ast.Assign([statement.target], statement.value), statement)
        yield ast.copy_location(ast.Assign([noted], annotation), statement)

    def misplaced_yield(self, body):
        inside = at_top_level(body, lambda each: isinstance(each, FUNCTIONS))
        node = next(each for each in inside if isinstance(each, (ast.Yield, ast.YieldFrom)))
        position = (self.file_name, node.lineno, node.col_offset + 1, None, node.end_lineno, node.end_col_offset + 1)
        return SyntaxError("'yield' outside function", position)

    def module(self):
        """A fresh module for it, in the place of the one that this process was started with."""
        made = types.ModuleType("__main__", self.doc)
        self.namespace = made.__dict__
        self.namespace.update(__builtins__=builtins, __file__=self.file_name)
        if self.has_annotations:
            self.namespace["__annotations__"] = {}
        for name, feature in self.bound_futures:
            self.namespace[name] = getattr(__future__, feature)
        setattr(builtins, PROGRAM, self)
        sys.modules["__main__"] = made
        return made

    def import_star(self, name, level):
        module = __import__(name, self.namespace, self.namespace, ["*"], level)
        public = getattr(module, "__all__", None)
        if public is None:
            public = [each for each in vars(module) if not each.startswith("_")]
        for each in public:
            self.namespace[each] = getattr(module, each)

    def note_main(self):
        self.leaves_main = self.has_ended = False
        self.result = None

    def note_end(self, result=None):
        self.has_ended = True
        self.result = result
        return result

    def run(self):
        try:
            return eval(self.code, self.namespace)
        except SystemExit as error:
            # Many scripts end so once their `main` has.
            if self.has_ended and (error.code is None or error.code is self.result or error.code == 0):
                return END
            raise


def position():
    return ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)


def futures_and_rest(body):
    """`from __future__` has to stay in front of all; only a docstring may precede it."""
    at = 1 if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else 0
    end = at
    while end < len(body) and isinstance(body[end], ast.ImportFrom) and body[end].module == "__future__":
        end += 1
    return body[at:end], body[:at] + body[end:]


def leading_imports(body):
    """What a source imports before it does anything else: names, each with what is taken from it."""
    found = []
    for each in body:
        if isinstance(each, ast.Import):
            found.extend((alias.name, ()) for alias in each.names)
        elif isinstance(each, ast.ImportFrom) and each.level == 0:
            found.append((each.module, tuple(alias.name for alias in each.names)))
        elif not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)):
            break
    return found


def imports_anywhere(tree):
    """Names of modules that a source may import at any time, some of which may be none; with what a coroutine is run by."""
    names = set()
    for each in ast.walk(tree):
        if isinstance(each, ast.Import):
            names.update(alias.name for alias in each.names)
        elif isinstance(each, ast.ImportFrom) and each.level == 0:
            names.update((each.module, *(f"{each.module}.{alias.name}" for alias in each.names)))
        elif isinstance(each, ast.AsyncFunctionDef):
            names.add("asyncio")
    return sorted(names)


def at_top_level(nodes, is_closed):
    """These nodes, and, in their order, those inside them, but not what is inside closed ones."""
    open_ends = list(reversed(nodes))
    while open_ends:
        each = open_ends.pop()
        yield each
        if not is_closed(each):
            open_ends.extend(reversed(list(ast.iter_child_nodes(each))))


def own_call(method, values, statement):
    """A call of this method of the program, as a statement in the place of another."""
    function = ast.Attribute(ast.Name(PROGRAM, ast.Load()), method, ast.Load())
    call = ast.Expr(ast.Call(function, [each if isinstance(each, ast.AST) else ast.Constant(each) for each in values], []))
    return ast.fix_missing_locations(ast.copy_location(call, statement))


def star_import(statement):
    return own_call("import_star", (statement.module or "", statement.level), statement)


def is_definition(node):
    return isinstance(node, (*FUNCTIONS, ast.ClassDef))


def is_main(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == "main"


def note_calls(main):
    """Makes it note that it has been called, by whomever, and what it has given."""
    for each in at_top_level(main.body, is_definition):
        if isinstance(each, ast.Return) and each.value is not None:
            each.value = own_call("note_end", (each.value,), each.value).value
    at = 0 if ast.get_docstring(main, clean=False) is None else 1
    main.body.insert(at, own_call("note_main", (), main.body[0]))
    main.body.append(own_call("note_end", (), main.body[-1]))


def names_main(node):
    return isinstance(node, ast.Name) and node.id == "main"


def starts_main(node):
    """Whether it hands `main` to what calls it elsewhere, perhaps later."""
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
    return name in STARTERS and any(map(names_main, (*node.args, *(each.value for each in node.keywords))))


def return_main(statements, is_async, is_caught=False):
    """Makes the call of `main` with which these end, if they do, what they return. `is_caught`: by a `try` or `with`."""
    last = statements[-1] if statements else None
    call = call_of_main(last, is_async, is_caught)
    if call:
        statements[-1] = ast.copy_location(ast.Return(call), last)
    elif isinstance(last, ast.If):
        return_main(last.body, is_async, is_caught)
        return_main(last.orelse, is_async, is_caught)
    elif isinstance(last, ast.Match):
        for each in last.cases:
            return_main(each.body, is_async, is_caught)
    elif isinstance(last, ast.With):
        return_main(last.body, is_async, True)
    elif isinstance(last, (ast.Try, ast.TryStar)):
        return_main(last.orelse or last.body, is_async, True)
        # Those of a group can't return.
        for each in last.handlers if isinstance(last, ast.Try) else ():
            return_main(each.body, is_async, True)


def call_of_main(statement, is_async, is_caught):
    """What gives the value of `main(…)`, `asyncio.run(main(…))` or `sys.exit(main(…))`; None for other statements."""
    is_expression = isinstance(statement, ast.Expr)
    call = statement.value if is_expression else getattr(statement, "exc", None)
    if argument_of(call) and ast.unparse(call.func) in EXITS:
        call = argument_of(call)
    elif not is_expression:
        return None
    inner = argument_of(call)
    if not is_call_of_main(inner):
        return call if is_call_of_main(call) else None
    is_run = ast.unparse(call.func) == "asyncio.run"
    if is_run and not is_caught:
        # It is awaited anyway, without a wait for what else is in its loop.
        return inner
    return call if is_run or is_async else None


def argument_of(call):
    """The only one that it is given by its place; None where there is none."""
    return call.args[0] if isinstance(call, ast.Call) and len(call.args) == 1 else None


def is_call_of_main(node):
    return isinstance(node, ast.Call) and names_main(node.func)
