"""
What a template imports for its runs, and what that may leave behind: forks can't share open files, connections, threads,
processes, timers or shared memory. What is printed and written meanwhile is kept, for each run to have it anew.
"""

import contextlib
import os
import posix
from stat import S_IRWXU, S_ISREG

import fork_handlers
import output
import process_control
import run_forks
import warm
from removal import remove

# What each run has anew is no more than this.
PRINTED_BYTES = 64 * 1024
WRITTEN_BYTES = 1024 * 1024
WRITTEN_FILES = 100
OPEN_FILES = 1024
# Further apart its threads are not looked for.
MOST_NUMBERS = 50_000

# Looks for the fonts of the machine, which takes seconds; what draws with it, and what uses that, some only when it draws.
FONTS = "matplotlib.font_manager"
PLOTS = "matplotlib.pyplot"
WITH_PLOTS = frozenset((PLOTS, "pylab", "seaborn"))
WITH_FONTS = frozenset(("matplotlib", "mpl_toolkits", "pylab", "seaborn"))
# Variables that these, and numpy in them, read when they are imported: a source may set them before.
READ_BY_THEM = ("MPLBACKEND", "MPLCONFIGDIR", "MATPLOTLIBRC", "_NUM_THREADS")

fork = posix.fork
wait_for = posix.waitpid
end_process = posix._exit


class Imports:
    """What is to be imported ahead, and what that must not leave behind."""

    def __init__(self, program, team, settings, standard):
        self.team = team
        self.names = settings["names"]
        self.seeks_team = False
        self.modules = list(self.of(program.imports, team.of_process, set()))
        self.standard = standard
        self.fonts = None

    def of(self, imports, own, seen):
        """Names and what is taken from them, up to the first module of the team: what that does is not known."""
        for name, members in imports:
            if name.partition(".")[0] in self.names:
                continue
            if not self.team.has(name):
                yield name, members
                continue
            index = own.get((name, ""))
            if index is not None and index not in seen:
                yield from self.of(self.team.leading_imports(index), self.team.of_module[index], {*seen, index})
            return

    def add_fonts(self, names, sources):
        """Looks for fonts ahead where the program may import, at any time, what needs them, and sets nothing of it before."""
        if any(variable in source for source in sources for variable in READ_BY_THEM):
            return
        if not self.team.has(FONTS) and any(name.partition(".")[0] in WITH_FONTS for name in names):
            self.fonts = FONTS if WITH_PLOTS.isdisjoint(names) else PLOTS

    def find_spec(self, name, path=None, target=None):
        """Finds nothing: notes what would be found in a run, also where the import can do without."""
        self.seeks_team = self.seeks_team or self.team.has(name) or name in self.names

    def takes_time(self):
        """Whether the zygote does not import it all for the runs to come."""
        import sys

        return self.fonts is not None or any(
            name not in sys.modules and name not in warm.MODULES for name, _ in self.modules
        )

    def make(self):
        """Imports; why forks could not share what is here now, or None."""
        import random
        import sys

        directory = self.directory = posix.getcwd()
        before, libraries = open_descriptors(), fork_handlers.loaded()
        sys.meta_path.insert(0, self)
        with output_kept(directory) as kept, Drawn(random) as drawn:
            for name, members in self.modules:
                __import__(name, {}, {}, members, 0)
            if self.fonts is not None:
                with contextlib.suppress(ImportError):
                    __import__(self.fonts)
            warm.import_ahead(self.standard)
        sys.meta_path.remove(self)
        self.drawn = drawn
        self.fork_run = run_forks.forker(libraries)
        self.printed = kept.printed
        if self.printed is None:
            return "output"
        if open_descriptors() != before:
            return "open files or connections"
        if drawn.is_fixed:
            return "a random seed"
        if self.seeks_team:
            return "a module of the team"
        if has_children():
            return "processes"
        if posix.getcwd() != directory or len(os.listdir(os.path.dirname(directory))) > 1:
            return "files"
        self.written = written_in(directory)
        if self.written is None:
            return "files"
        if has_timers():
            return "timers"
        if shares_memory():
            return "shared memory"
        if has_threads():
            return "threads"
        for name in os.listdir(directory):
            remove(f"{directory}/{name}")
        return None

    def repeat(self):
        """In a run: what the imports have written and printed. What a library does in each fork may be there already."""
        for path, (mode, modified, data) in self.written.items():
            if data is None:
                os.makedirs(path, exist_ok=True)
            else:
                with open(path, "wb") as file:
                    file.write(data)
                os.utime(path, ns=(modified, modified))
            os.chmod(path, mode)
        for descriptor, data in self.printed.items():
            output.repeat(descriptor, data)


class Drawn:
    """Notes which generators of random numbers are made and seeded within: a fork seeds anew those that nobody seeded."""

    def __init__(self, random):
        self.random = random
        self.is_fixed = False
        self.free = []

    def __enter__(self):
        plain = self.random.Random
        self.before = plain.seed, plain.setstate, self.random.seed, self.random.setstate
        plain_seed, plain_set = self.before[:2]

        def seed(generator, a=None, version=2):
            self.note(generator, a is None)
            plain_seed(generator, a, version)

        def setstate(generator, state):
            self.note(generator, False)
            plain_set(generator, state)

        plain.seed, plain.setstate = seed, setstate
        shared = self.random._inst
        self.random.seed, self.random.setstate = shared.seed, shared.setstate
        return self

    def __exit__(self, *_):
        plain = self.random.Random
        plain.seed, plain.setstate, self.random.seed, self.random.setstate = self.before
        self.is_fixed = self.is_fixed or numpy_is_seeded()

    def note(self, generator, is_free):
        self.free = [each for each in self.free if each is not generator]
        if is_free:
            self.free.append(generator)
        # What a class of its own makes of a seed, or of none, nobody knows.
        if type(generator).seed is not self.random.Random.seed or (generator is self.random._inst and not is_free):
            self.is_fixed = True

    def anew(self):
        import sys

        for generator in self.free:
            self.random.Random.seed(generator)
        numpy = sys.modules.get("numpy.random")
        if hasattr(numpy, "seed"):
            numpy.seed()


def numpy_is_seeded():
    """Whether its generator for all has another seed than the one that it drew itself."""
    import sys

    generator = getattr(getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None), "_bit_generator", None)
    return generator is not None and getattr(generator, "_seed_seq", generator) is None


class output_kept:
    """What is printed within goes to files without names; `printed` by descriptor, or None where it is too much."""

    def __init__(self, directory):
        self.files = {number: nameless(f"{directory}/printed") for number in (1, 2)}

    def __enter__(self):
        import sys

        self.before = {number: posix.dup(number) for number in self.files}
        for number, file in self.files.items():
            posix.dup2(file, number)
        self.streams = sys.stdout, sys.stderr
        output.look_anew()
        return self

    def __exit__(self, *_):
        for stream in self.streams:
            stream.flush()
        output.flush_native()
        for number, before in self.before.items():
            posix.dup2(before, number)
            posix.close(before)
        output.look_anew()
        bytes_of = {number: posix.fstat(file).st_size for number, file in self.files.items()}
        is_too_much = sum(bytes_of.values()) > PRINTED_BYTES
        self.printed = None if is_too_much else {each: posix.pread(self.files[each], bytes_of[each], 0) for each in bytes_of}
        for file in self.files.values():
            posix.close(file)


def nameless(path):
    """A file that has no name any more."""
    file = posix.open(path, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC | posix.O_APPEND, 0o600)
    posix.unlink(path)
    return file


def written_in(directory):
    """
    The directories and files there: mode, time of the last change in ns, and bytes (None for a directory) by path, parents
    first. None where there is anything else, or too much.
    """
    found, left, waiting = {}, WRITTEN_BYTES, [directory]
    for place in waiting:
        for entry in os.scandir(place):
            status = entry.stat(follow_symlinks=False)
            left -= status.st_size
            if left < 0 or len(found) == WRITTEN_FILES:
                return None
            if entry.is_dir(follow_symlinks=False) and status.st_mode & S_IRWXU == S_IRWXU:
                waiting.append(entry.path)
                data = None
            elif S_ISREG(status.st_mode) and status.st_nlink == 1:
                with open(entry.path, "rb") as file:
                    data = file.read()
            else:
                return None
            found[entry.path] = status.st_mode & 0o7777, status.st_mtime_ns, data
    return found


def open_descriptors():
    return [each for each in range(OPEN_FILES) if is_open(each)]


def is_open(descriptor):
    try:
        posix.fstat(descriptor)
        return True
    except OSError:
        return False


def has_children():
    try:
        wait_for(-1, posix.WNOHANG)
        return True
    except ChildProcessError:
        return False


def has_timers():
    import signal

    return any(any(signal.getitimer(which)) for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF))


def shares_memory():
    """Whether it has memory that its forks would have in common."""
    import gc
    import sys

    try:
        with open("/proc/self/maps", "rb") as maps:
            return any(line.split(b" ", 2)[1] == b"rw-s" for line in maps)
    except OSError:
        mmap = sys.modules.get("mmap")
        return "multiprocessing.synchronize" in sys.modules or (
            mmap is not None and any(isinstance(each, mmap.mmap) for each in gc.get_objects())
        )


def has_threads():
    """
    Whether it has any that a fork does not end: the usual libraries of numbers do so, and start them again. They are
    looked for by their numbers, which lie between its own and that of a process that is made now: not everywhere is there
    a list of them.
    """
    own = posix.getpid()
    latest = fork()
    if latest == 0:
        end_process(0)
    wait_for(latest, 0)
    if not own < latest < own + MOST_NUMBERS:
        return True
    return process_control.has_thread(own, range(own + 1, latest))
