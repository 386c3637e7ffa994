"""
The warm parent: keeps one fork ahead, gives it a run, relays what the run says for itself and nothing else, and ends
whatever it started before it says that all is clean. It never runs process code, nor reads any.
"""

import json
import os
import select
import signal
import sys

import confine
import frames
import process_control
import rehearsal
import stage
import surroundings
import template
import warm
from descendants import send
from fork import Fork
from fork_pipes import ForkPipes
from meter import Meter
from removal import remove
from template import Template

# Frames beside a return value: failures with their stacks, calls with their parameters.
EXTRA_BYTES = 2 * 1024 * 1024
FAILED_FORKS = 3
# Why there is no template where it is not there any more.
ENDED = b"its end"
CHANNEL_BROKEN = "The process broke its channel: "
really_fork = os.fork


class Zygote:
    def __init__(self, has_domains):
        self.has_domains = has_domains
        self.pid = os.getpid()
        self.next = None
        self.longest = EXTRA_BYTES
        self.fork_pid = None
        self.run = None
        self.forks = 0
        # What forks the runs of this program, once one of its forks has become that.
        self.template = None
        self.may_have_template = True
        # The one that the fork at hand may become, until that has said whether it does.
        self.offered = None
        self.is_importing = False
        # What its program may import of Python's own library.
        self.wanted = []
        # Frames for a fork that is not known yet.
        self.held = []
        self.meter = Meter()
        self.failed_forks = 0
        self.is_ending = False
        self.directories = Directories()
        self.poller = select.poll()
        self.pipes = ForkPipes(self.poller)
        self.input = frames.Reader(frames.IN)

    def serve(self):
        """Until the runner closes the channel, or says that it is time."""
        self.prepare()
        self.fork()
        frames.write_all(frames.OUT, frames.upward(frames.HELLO, 0, b""))
        self.poller.register(frames.IN, select.POLLIN)
        while not (self.is_ending and self.fork_pid is None and self.run is None):
            forks = self.forks
            for descriptor, _ in self.poller.poll():
                if self.forks != forks:
                    break  # What is left speaks of descriptors that are others by now.
                if descriptor == frames.IN:
                    self.heard()
                elif descriptor == self.wake:
                    self.woken()
                elif self.template is not None and descriptor == self.template.descriptor():
                    self.born()
                elif descriptor == self.pipes.to_fork:
                    self.pipes.send_pending()
                elif descriptor == self.pipes.from_fork:
                    self.fork_spoke()

    def prepare(self):
        process_control.adopt_orphans()
        process_control.hide()
        confine.prepare(self.has_domains)
        stage.install()
        surroundings.prepare()
        for directory in sys.path[:2]:
            stage.hide(directory)
        self.wake, wake_by_signal = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_by_signal, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, process_control.APART):
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGTERM, self.terminate)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.poller.register(self.wake, select.POLLIN)
        self.next = Fork(self.directories.path)
        rehearsal.rehearse()
        # Without a look at what there is to collect: so early it is next to nothing, and the look takes 3 ms.
        warm.gc.freeze()
        warm.gc.disable()

    def terminate(self, *_):
        """The run gets its own SIGTERM and ends as it will; this process ends after it, or at once."""
        self.is_ending = True
        if self.run is None and os.getpid() == self.pid:
            os._exit(0)

    def fork(self):
        """Makes the next fork, which has all that is known of its run ahead, or has the template make it."""
        self.forks += 1
        self.directories.make()
        self.pipes.open()
        if self.template is not None:
            is_asked = self.template.ask(self.pipes)
            self.pipes.keep(self.longest)
            return None if is_asked else self.template_lost()
        os.chdir(self.directories.path)
        offered = self.offered = Template(self.poller) if self.may_have_template else None
        pid = really_fork() if offered is None else process_control.fork_apart()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            # Before descriptors are closed: it may have one of its own.
            confine.confine_run()
            if offered is not None:
                template.move_in(offered)
            self.pipes.become_channels(self.wake, kept=offered and (template.CONTROL, template.FIRST_OTHER))
            self.next.live(self.pid, is_offered=offered is not None)
        if offered is not None:
            offered.forked(pid)
        self.pipes.keep(self.longest)
        self.fork_pid = pid
        self.is_first = self.next.ready is None
        return None

    def heard(self):
        """Frames from the runner, which is trusted."""
        if not self.input.fill():
            os._exit(0)
        while (frame := self.input.take()) is not None:
            kind = frame[0]
            if kind == frames.PROGRAM:
                self.next.configure(frame[1:])
                self.longest = self.next.settings["returnValueMaxBytes"] + EXTRA_BYTES
                self.pipes.output.longest = self.longest
            elif kind == frames.SURROUNDINGS:
                before = self.next.surroundings
                self.next.surround(frame[1:])
                if self.template is not None and self.next.surroundings != before:
                    self.start_over()  # It has imported with others, and its forks would have them.
            elif kind == frames.RUN:
                end = 9 + frames.LENGTH.unpack_from(frame, 1)[0]
                header = json.loads(frame[9:end])
                self.run = header["number"]
                self.meter.begin(self.fork_pid)
                if self.offered is not None:
                    # What it imports runs for others, too: it does not see what this one is given.
                    self.held.append(frame)
                    self.pipes.send(offer(header))
                    continue
            elif kind != frames.ANSWER or self.run is None:
                continue
            if self.fork_pid is None:
                self.held.append(frame)
            else:
                self.pipes.send(frame)

    def fork_spoke(self):
        """Frames from process code: they may speak of the run that is on, and end it once."""
        try:
            if self.pipes.fill():
                while (frame := self.pipes.take()) is not None:
                    if self.fork_pid is None:
                        return self.template_lost()  # Nothing is said before it is known who speaks.
                    self.relay(frame)
            elif self.fork_pid is None and self.template is not None:
                self.template_lost()  # The fork that it was asked for has gone before it was known.
        except frames.TooLong as error:
            self.broken(f"a frame of {error} bytes")

    def relay(self, frame):
        kind, (run,) = frame[0], frames.LENGTH.unpack_from(frame, 1)
        is_first, self.is_first = self.is_first, False
        if kind == frames.COMPILED:
            # What a fork without code says first is said before it runs any; later it may be anybody's word.
            if is_first:
                names, _, self.next.ready = frame[5:].partition(b"\n")
                self.wanted = names.decode().split(",") if names else []
            return None
        if run != self.run:
            return self.broken("a frame for another run")
        if kind == frames.TEMPLATE and self.offered is not None:
            return self.tried(frame[5:6], frame[6:])
        # An import speaks for no run: the one that waits for it has not begun.
        if self.offered is not None or kind not in (frames.VALUE, frames.FAILURE, frames.CALL):
            return self.broken(f"a frame of type {kind}")
        whole = frames.LENGTH.pack(len(frame)) + frame
        if kind == frames.CALL:
            return frames.write_all(frames.OUT, whole)
        return self.over(whole)

    def tried(self, word, why):
        """What the fork says that may become a template: what it does with its run before it does it, and what came of it."""
        if word == template.IMPORTS:
            self.is_importing = True
        elif word == template.READY and self.is_importing:
            self.pipes.close()
            self.template, self.offered, self.fork_pid, self.is_importing = self.offered, None, None, False
            self.template.ready()
            self.tell_imports(b"shared")
            self.fork()
        elif word == template.RUNS_ITSELF and not self.is_importing:
            self.offered.close()
            self.offered = None
            self.may_have_template = False
            self.give_held()
        else:
            self.without_template(why)

    def born(self):
        """The template says which process its next fork is: that is given what there is for it."""
        pid = self.template.born()
        if pid is None or self.fork_pid is not None:
            return self.template_lost()
        self.fork_pid = pid
        self.give_held()
        return self.look()

    def template_lost(self, status=0):
        """A run that has begun goes on without; one that has not, or would be next, gets a fork of its own."""
        if self.fork_pid is None:
            return self.without_template(ENDED, status)
        self.template.end()
        self.template = None
        return None

    def without_template(self, why, status=0):
        self.may_have_template = False
        self.tell_imports(why)
        if self.run is not None and (self.is_ending or status == signal.SIGTERM):
            # All are told to end: the source does not begin any more.
            return self.failed({"died": {"kind": "signal", "signal": int(signal.SIGTERM)}})
        return self.start_over()

    def tell_imports(self, how):
        frames.write_all(frames.OUT, frames.upward(frames.TEMPLATE, self.run or 0, how[:100]))

    def start_over(self):
        """All is made anew; a run that waits, and has not begun, gets the new fork."""
        if self.clear() is not None:
            os._exit(0)
        self.fork()
        self.give_held()

    def give_held(self):
        if self.run is not None:
            self.meter.begin(self.fork_pid)
        held, self.held = self.held, []
        for frame in held:
            self.pipes.send(frame)

    def broken(self, words):
        if self.run is not None:
            self.failed({"name": "Error", "message": CHANNEL_BROKEN + words, "stack": ""})

    def woken(self):
        """A signal has come: maybe the fork has ended on its own."""
        os.read(self.wake, 4096)
        self.look()

    def look(self):
        if self.template is not None and (status := self.template.ending()) is not None:
            self.template_lost(status)
        if self.fork_pid is None:
            return
        pid, status, usage = os.wait4(self.fork_pid, os.WNOHANG | confine.WALL)
        if pid == 0:
            return
        self.meter.reaped(usage)
        self.fork_pid, forks = None, self.forks
        if self.is_importing:
            return self.without_template(ENDED, status)
        # Its last words may be unread.
        while self.run is not None and self.pipes.has_words():
            if not self.pipes.fill():
                break
            while self.run is not None and (frame := self.pipes.take()) is not None:
                self.relay(frame)
        if self.run is not None:
            code = os.waitstatus_to_exitcode(status)
            self.failed({"died": {"kind": "signal", "signal": -code} if code < 0 else {"kind": "exit", "code": code}})
        elif self.forks == forks and not self.is_ending:
            self.fork_lost()

    def fork_lost(self):
        """A fork that has ended without a run: the next one may fare better."""
        self.failed_forks += 1
        if self.failed_forks > FAILED_FORKS:
            os._exit(1)
        self.clear()
        self.fork()

    def failed(self, failure):
        payload = json.dumps(failure).encode()
        self.over(frames.upward(frames.FAILURE, self.run, payload))

    def over(self, answer):
        """The run has its answer: nothing of it is left when the next one may come."""
        run, self.run = self.run, None
        self.held.clear()
        self.failed_forks = 0
        used = frames.upward(frames.USED, run, self.meter.used_by(self.fork_pid))
        frames.write_all(frames.OUT, used + answer)
        self.meter.end(self.fork_pid)
        reason = self.clear(keeps_template=True)
        if reason is not None:
            frames.write_all(frames.OUT, frames.upward(frames.UNCLEAN, run, reason.encode()))
            os._exit(0)
        if self.is_ending:
            os._exit(0)
        frames.write_all(frames.OUT, frames.upward(frames.CLEAN, run, self.meter.report()))
        if self.template is None and self.wanted:
            warm.import_ahead(self.wanted)
            warm.freeze()
        self.wanted = []
        self.fork()

    def clear(self, keeps_template=False):
        """Ends and removes what the fork has left; what can't be, in words. A template stays only where it is alone."""
        if self.fork_pid is not None:
            send(self.fork_pid, signal.SIGKILL)
            self.meter.reaped(os.wait4(self.fork_pid, confine.WALL)[2])
            self.fork_pid = None
        self.pipes.close()
        if self.offered is not None:
            self.offered.close()
        self.offered, self.is_importing = None, False
        if self.template is None or not keeps_template or confine.reap():
            if self.template is not None:
                self.template.end()
                self.template = None
            if not confine.end_all():
                return "processes that can't be ended"
        try:
            self.directories.empty()
        except (OSError, RecursionError) as error:
            return f"files that can't be removed ({error})"
        return None


def offer(header):
    """The frame of a run, without what only the run itself is to see."""
    known = json.dumps({name: header[name] for name in ("number", "fresh") if name in header}).encode()
    return bytes([frames.RUN]) + frames.LENGTH.pack(len(known)) + frames.LENGTH.pack(0) + known


class Directories:
    """The private directory of the run at hand, which is gone when that is over."""

    def __init__(self):
        self.root = os.getcwd()
        self.path = f"{self.root}/run"

    def make(self):
        """Makes it, unless a template is in it."""
        try:
            os.mkdir(self.path, 0o700)
        except FileExistsError:
            pass

    def empty(self):
        """Removes it and all that lies beside it. Throws OSError for what can't be removed."""
        try:
            os.rmdir(self.path)
        except OSError:
            pass  # It is looked at again below.
        for name in os.listdir(self.root):
            remove(f"{self.root}/{name}")
