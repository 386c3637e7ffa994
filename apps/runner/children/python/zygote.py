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
import warm
from descendants import send
from fork import Fork
from fork_pipes import ForkPipes
from meter import Meter
from removal import remove

# Frames beside a return value: failures with their stacks, calls with their parameters.
EXTRA_BYTES = 2 * 1024 * 1024
FAILED_FORKS = 3
# Names come again after so many runs: the C library keeps every text that was ever in the environment.
NAMES = 100
CHANNEL_BROKEN = "The process broke its channel: "
really_fork = os.fork


class Zygote:
    def __init__(self):
        self.pid = os.getpid()
        self.next = None
        self.longest = EXTRA_BYTES
        self.fork_pid = None
        self.run = None
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
        while not (self.is_ending and self.fork_pid is None):
            forks = self.directories.number
            for descriptor, _ in self.poller.poll():
                if self.directories.number != forks:
                    break  # What is left speaks of descriptors that are others by now.
                if descriptor == frames.IN:
                    self.heard()
                elif descriptor == self.wake:
                    self.woken()
                elif descriptor == self.pipes.to_fork:
                    self.pipes.send_pending()
                elif descriptor == self.pipes.from_fork:
                    self.fork_spoke()

    def prepare(self):
        process_control.adopt_orphans()
        process_control.hide()
        confine.prepare()
        stage.install()
        for directory in sys.path[:2]:
            stage.hide(directory)
        self.wake, wake_by_signal = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_by_signal, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self.terminate)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.poller.register(self.wake, select.POLLIN)
        self.next = Fork()
        warm.freeze()
        warm.gc.disable()

    def terminate(self, *_):
        """The run gets its own SIGTERM and ends as it will; this process ends after it, or at once."""
        self.is_ending = True
        if self.run is None and os.getpid() == self.pid:
            os._exit(0)

    def fork(self):
        """Makes the next fork, which has all that is known of its run ahead."""
        self.directories.make()
        surroundings.enter(self.directories.path, self.next.surroundings["variables"])
        self.pipes.open()
        pid = really_fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            # Before descriptors are closed: it may have one of its own.
            confine.confine_run()
            self.pipes.become_channels(self.wake)
            self.next.live(self.pid)
        self.pipes.keep(self.longest)
        self.fork_pid = pid
        self.is_first = self.next.ready is None

    def warm_up(self):
        """There is time: the next forks find imported what many programs need."""
        warm.import_all()
        rehearsal.rehearse(self.next.svc)
        warm.freeze()
        if self.clear() is not None:
            os._exit(0)
        self.fork()

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
                self.next.surround(frame[1:])
            elif kind == frames.WARM_UP:
                self.warm_up()
                continue
            elif kind == frames.RUN:
                end = 9 + frames.LENGTH.unpack_from(frame, 1)[0]
                self.run = json.loads(frame[9:end])["number"]
                self.meter.begin(self.fork_pid)
            elif kind != frames.ANSWER or self.run is None:
                continue
            self.pipes.send(frame)

    def fork_spoke(self):
        """Frames from process code: they may speak of the run that is on, and end it once."""
        try:
            if self.pipes.fill():
                while (frame := self.pipes.take()) is not None:
                    self.relay(frame)
        except frames.TooLong as error:
            self.broken(f"a frame of {error} bytes")

    def relay(self, frame):
        kind, (run,) = frame[0], frames.LENGTH.unpack_from(frame, 1)
        is_first, self.is_first = self.is_first, False
        if kind == frames.COMPILED:
            # What a fork without code says first is said before it runs any; later it may be anybody's word.
            self.next.ready = frame[5:] if is_first else self.next.ready
            return None
        if run != self.run:
            return self.broken("a frame for another run")
        if kind not in (frames.VALUE, frames.FAILURE, frames.CALL):
            return self.broken(f"a frame of type {kind}")
        whole = frames.LENGTH.pack(len(frame)) + frame
        if kind == frames.CALL:
            return frames.write_all(frames.OUT, whole)
        return self.over(whole)

    def broken(self, words):
        if self.run is not None:
            self.failed({"name": "Error", "message": CHANNEL_BROKEN + words, "stack": ""})

    def woken(self):
        """A signal has come: maybe the fork has ended on its own."""
        os.read(self.wake, 4096)
        if self.fork_pid is None:
            return
        pid, status = os.waitpid(self.fork_pid, os.WNOHANG)
        if pid == 0:
            return
        self.fork_pid = None
        # Its last words may be unread.
        while self.run is not None and self.pipes.has_words():
            if not self.pipes.fill():
                break
            while self.run is not None and (frame := self.pipes.take()) is not None:
                self.relay(frame)
        if self.run is not None:
            code = os.waitstatus_to_exitcode(status)
            self.failed({"died": {"kind": "signal", "signal": -code} if code < 0 else {"kind": "exit", "code": code}})
        elif self.fork_pid is None and not self.is_ending:
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
        self.failed_forks = 0
        frames.write_all(frames.OUT, answer)
        self.meter.end(self.fork_pid)
        reason = self.clear()
        if reason is not None:
            frames.write_all(frames.OUT, frames.upward(frames.UNCLEAN, run, reason.encode()))
            os._exit(0)
        if self.is_ending:
            os._exit(0)
        frames.write_all(frames.OUT, frames.upward(frames.CLEAN, run, self.meter.report()))
        self.fork()

    def clear(self):
        """Ends and removes what the fork has left; what can't be, in words."""
        if self.fork_pid is not None:
            send(self.fork_pid, signal.SIGKILL)
            self.meter.reaped(os.wait4(self.fork_pid, 0)[2])
            self.fork_pid = None
        self.pipes.close()
        if not confine.end_all():
            return "processes that can't be ended"
        try:
            self.directories.empty()
        except (OSError, RecursionError) as error:
            return f"files that can't be removed ({error})"
        return None


class Directories:
    """The private directories of runs: each has its own, which is gone under its name when the run is over."""

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
