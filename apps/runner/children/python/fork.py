"""The life of a fork: it takes its place, has the program ready ahead, waits for one run, and ends with it."""

import _signal
import gc
import json
import os
import struct
import sys

import failure
import frames
import output
import process_control
import rehearsal
import service
import surroundings
import template
import value
import waiting
import warm
from calls import Calls
from program import END, Program
from team_modules import TeamModules
from template_imports import Imports

LOST_RUNNER = 70
# Larger code is compiled in each fork.
PACKED_MAX_BYTES = 1024 * 1024
LENGTHS = struct.Struct("<II")
# Never touched, and freed when memory is out, so that there is some to tell of it.
BALLAST_BYTES = 8 * 1024 * 1024
OUT_OF_MEMORY = b'{"name":"MemoryError","message":"","stack":"MemoryError"}'

# As plain numbers: the names of `signal` are objects, each on a page that a fork would have to copy.
SIGNALS = {
    int(_signal.SIGCHLD): 0,
    int(process_control.APART): 0,
    int(_signal.SIGTERM): 0,
    int(_signal.SIGINT): _signal.default_int_handler,
}
KILL = int(_signal.SIGKILL)

set_signal = _signal.signal
end_process = os._exit
kill = os.kill
own_pid = os.getpid
# Of JSON from the runner, without spaces around it.
parse = json.JSONDecoder().scan_once


class Fork:
    """Made in the parent, so that what is the same for all is ready in each; `live` is what the fork does."""

    def __init__(self, directory):
        self.directory = directory
        self.ballast = bytes(BALLAST_BYTES)
        self.reader = frames.Reader(frames.IN)
        self.calls = Calls(self.reader)
        self.svc = service.create(self.calls.ask)
        self.settings = None
        self.team = None
        self.ready = None
        self.standard = None
        self.anywhere = None
        self.surroundings = {"variables": {}}
        self.program = None
        self.fault = None
        self.pid = 0
        self.parent = 0
        self.is_offered = False
        self.module = None
        # What it has imported as the template of which this is a fork.
        self.imports = None

    def configure(self, payload):
        self.settings = json.loads(payload)
        self.ready = None
        self.standard = None
        self.anywhere = None
        self.team = TeamModules(self.settings, self.svc)

    def surround(self, payload):
        before = self.surroundings["variables"]
        self.surroundings = json.loads(payload)
        surroundings.set_variables(self.directory, self.surroundings["variables"], before)
        service.surround(self.svc, self.surroundings)

    def live(self, parent, is_offered):
        """In the fork, when its descriptors are in their places: never returns. `is_offered`: it may become a template."""
        self.pid = own_pid()
        self.parent = parent
        self.is_offered = is_offered
        process_control.end_with_parent()
        if os.getppid() != parent:
            end_process(1)
        try:
            for number, handler in SIGNALS.items():
                set_signal(number, handler)
            process_control.show()
            warm.wake()
            if self.settings is not None:
                self.load()
            else:
                rehearsal.play_once()
            gc.enable()
            self.wait()
            # Nothing of the run goes on, nor does what it wants done at its end.
            kill(self.pid, KILL)
        except OSError:
            end_process(LOST_RUNNER)
        except BaseException as error:
            os.write(output.STANDARD_ERROR, f"{error!r}\n".encode())
        finally:
            end_process(LOST_RUNNER)

    def load(self):
        """Compiles the program; what is wrong with it is told when it is run."""
        sys.argv = [self.settings["fileName"]]
        if "packages" in self.settings:
            sys.path.append(self.settings["packages"] + "/site-packages")
        try:
            self.program = Program(self.settings["source"], self.settings["fileName"], self.ready)
        except Exception as error:
            self.fault = error
            return
        if self.ready is None:
            packed = self.program.packed()
            # Said in any case: what comes first is not from process code.
            fits = len(packed) <= PACKED_MAX_BYTES
            names = ",".join(each for each in self.standard_imports() if each not in sys.modules).encode()
            frames.write_all(frames.OUT, frames.upward(frames.COMPILED, 0, names + b"\n" + (packed if fits else b"")))

    def standard_imports(self):
        """What the program and its modules may import of Python's own library, as far as it is worth to be imported ahead."""
        if self.standard is None:
            self.standard = warm.among(self.imports_anywhere())
        return self.standard

    def imports_anywhere(self):
        """Names of what the program and its modules may import at any time."""
        if self.anywhere is None:
            later = (self.team.imports_anywhere(index) for index in range(len(self.team.modules)))
            self.anywhere = {*self.program.later_imports, *(name for names in later for name in names)}
        return self.anywhere

    def wait(self):
        """Takes frames until the run has come and gone."""
        while True:
            frame = self.reader.next()
            if frame is None:
                return
            kind = frame[0]
            if kind == frames.PROGRAM:
                self.configure(frame[1:])
                self.load()
            elif kind == frames.SURROUNDINGS:
                self.surround(frame[1:])
            elif kind == frames.RUN:
                if not self.is_offered:
                    return self.run(frame)
                # The first says only which run it is; what that is given follows when it is known who runs it.
                self.is_offered = False
                imports = self.imports_ahead(frame)
                if imports is not None:
                    self.be_run_of(imports)

    def imports_ahead(self, frame):
        """What it has imported as a template, of which this is a fork by then; None where it is to run the source itself."""
        header = json.loads(frame[1 + LENGTHS.size :][: LENGTHS.unpack_from(frame, 1)[0]])

        def say(what):
            frames.write_all(frames.OUT, frames.upward(frames.TEMPLATE, header["number"], what))

        imports = None
        if self.fault is None and not self.settings.get("modulesFault") and not header.get("fresh"):
            imports = Imports(self.program, self.team, self.settings, self.standard_imports())
            sources = [self.program.source, *(each["source"] for each in self.team.modules)]
            imports.add_fonts(self.imports_anywhere(), sources)
        if imports is None or not imports.takes_time():
            template.move_out()
            say(template.RUNS_ITSELF)
            return None
        say(template.IMPORTS)
        self.module = self.program.module()
        output.restart(self.settings["logs"])
        try:
            refusal = imports.make()
        except BaseException as error:
            refusal = type(error).__name__
        if refusal is not None:
            say(template.REFUSED + refusal.encode())
            end_process(0)
        imports.collect = gc.isenabled()
        gc.disable()
        warm.freeze()
        say(template.READY)
        template.serve(self.parent, imports.fork_run)
        return imports

    def be_run_of(self, imports):
        self.imports = imports
        self.pid = own_pid()
        self.reader.held.clear()
        warm.wake()
        imports.drawn.anew()
        os.chdir(imports.directory)
        if imports.collect:
            gc.enable()

    def run(self, frame):
        header_bytes, parameters_bytes = LENGTHS.unpack_from(frame, 1)
        header_end = 1 + LENGTHS.size + header_bytes
        parameters_end = header_end + parameters_bytes
        header, _ = parse(frame[1 + LENGTHS.size : header_end].decode(), 0)
        number = self.calls.run = header["number"]
        output.restart(self.settings["logs"])
        surroundings.set_traceparent(header.get("traceparent"), self.surroundings["variables"])
        try:
            kind, data = self.outcome(header, frame[header_end:parameters_end], frame[parameters_end:])
        except BaseException as error:
            self.end_others(error)
            kind, data = frames.FAILURE, self.failure_of(error)
        output.flush_native()
        frames.write_all(frames.OUT, frames.upward(kind, number, data))
        # What the run has held is still to be seen: the parent looks, and ends all of it.
        while frames.read(frames.IN, frames.READ_BYTES):
            pass

    def outcome(self, header, parameters, request):
        if self.fault is not None:
            raise self.fault
        if self.settings.get("modulesFault"):
            raise RuntimeError(self.settings["modulesFault"])
        if self.imports is not None:
            self.imports.repeat()
        # Kept: a module that nobody holds loses its names.
        self.module = self.module or self.program.module()
        service.fill(self.svc, header, parameters, request)
        service.install(self.svc, self.settings["names"], self.program.namespace)
        self.team.install(self.svc)
        result = self.value()
        self.end_others()
        data, is_transient = value.serialise(result, self.settings["returnValueMaxBytes"])
        return frames.VALUE, (b"\1" if is_transient else b"\0") + data

    def value(self):
        """What the top level returned, or, where it did not, what `main` gives or has given."""
        result = self.program.run()
        if isinstance(result, str) and result == END:
            if not self.program.leaves_main:
                return self.of_own_call(self.program.result)
            main = self.program.namespace.get("main")
            result = main() if callable(main) else None
        return waiting.wait_for(result) if hasattr(type(result), "__await__") else result

    def of_own_call(self, result):
        """What the source has got of its `main` itself need be no JSON."""
        try:
            value.serialise(result, self.settings["returnValueMaxBytes"])
        except (TypeError, ValueError):
            return None
        return result

    def end_others(self, error=None):
        """Where this is a fork that process code has made, it ends as the process of any script does."""
        if own_pid() == self.pid:
            return
        code = 0 if error is None else 1
        if not isinstance(error, SystemExit):
            words = None if error is None else failure.text_of(error)
        elif error.code is None or isinstance(error.code, int):
            code, words = (error.code or 0) & 0xFF, None
        else:
            words = failure.words_of(error.code)
        if words is not None:
            output.emit(output.ERROR, words)
        end_process(code)

    def failure_of(self, error):
        self.ballast = None
        try:
            failure.put_back_limits()
            return json.dumps(failure.describe(error)).encode()
        except MemoryError:
            return OUT_OF_MEMORY
