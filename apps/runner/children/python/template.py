"""
A fork that imports, before it does anything else, what the top of the source imports, and then only forks: its forks are
the runs of one version. Where these imports leave behind what forks can't share, there is no template, and each run imports
for itself.
"""

import _socket
import posix
import struct
from signal import SIGKILL

import confine
import process_control
from descendants import send

# What a fork that may become one says of itself, to its parent alone.
RUNS_ITSELF = b"\0"
IMPORTS = b"\1"
READY = b"\2"
REFUSED = b"\3"

# Where it has its channel to the zygote, and what confines its forks: beyond all that the zygote has open.
CONTROL = 60
RULESET = 61
FIRST_OTHER = 62

PAIR = struct.Struct("ii")
TO_MOVE = b"F"

wait_for = posix.waitpid
end_process = posix._exit


class Template:
    """The zygote's side: made before the fork that may become one, `ready` once that has."""

    def __init__(self, poller):
        self.poller = poller
        self.control, self.theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self.control.setblocking(False)
        self.pid = None
        self.is_ready = False

    def forked(self, pid):
        self.pid = pid
        self.theirs.close()

    def ready(self):
        self.is_ready = True
        self.poller.register(self.control, 1)

    def descriptor(self):
        return self.control.fileno()

    def ask(self, pipes):
        """For a fork that has these; false where it can't be asked."""
        descriptors = PAIR.pack(pipes.read_request, pipes.write_answer)
        try:
            self.control.sendmsg([TO_MOVE], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)])
        except OSError:
            return False
        return True

    def born(self):
        """The process that its next fork is, by its own word, as it is a child of this one; None where it can't be."""
        try:
            pid = int(self.control.recv(32))
            posix.waitid(posix.P_PID, pid, posix.WEXITED | posix.WNOHANG | posix.WNOWAIT | confine.WALL)
        except (OSError, ValueError, OverflowError):
            return None
        children = process_control.children()
        # Nobody else is there, made by an import so that plain waits do not see it.
        is_run = pid != self.pid if children is None else children == {pid, self.pid}
        return pid if is_run else None

    def ending(self):
        """Its wait status once it has ended; None while it has not."""
        if self.pid is None:
            return None
        try:
            pid, status = wait_for(self.pid, posix.WNOHANG | confine.WALL)
        except ChildProcessError:
            pid, status = self.pid, 0  # It had become another program: plain waits have seen its end.
        if pid == 0:
            return None
        self.pid = None
        return status

    def end(self):
        self.close()
        if self.ending() is None and self.pid is not None:
            send(self.pid, int(SIGKILL))
            wait_for(self.pid, confine.WALL)

    def close(self):
        if self.is_ready:
            self.poller.unregister(self.control)
        self.control.close()


def move_in(offered):
    """In the fork: what it needs to become one goes to where it is looked for."""
    posix.dup2(offered.theirs.fileno(), CONTROL, False)
    confine.keep_ruleset(RULESET)


def move_out():
    """It runs the source itself."""
    posix.closerange(CONTROL, FIRST_OTHER)


def serve(zygote, fork_run):
    """Forks, by `fork_run`, when it is told to; returns in each of the forks alone, when it has its channels."""
    control = _socket.socket(fileno=CONTROL)
    # What was imported may have set another for all.
    control.settimeout(None)
    process_control.leave_orphans()
    process_control.hide()
    confine.shield()
    while True:
        data, ancillary, _, _ = control.recvmsg(1, _socket.CMSG_SPACE(PAIR.size))
        if data != TO_MOVE or len(ancillary) != 1:
            end_process(0)
        read_request, write_answer = PAIR.unpack(ancillary[0][2][: PAIR.size])
        if fork_run():
            return become_run(zygote, control, read_request, write_answer)
        posix.close(read_request)
        posix.close(write_answer)


def become_run(zygote, control, read_request, write_answer):
    confine.confine_run()
    posix.dup2(read_request, 3, False)
    posix.dup2(write_answer, 4, False)
    process_control.end_with_parent()
    if posix.getppid() != zygote:
        end_process(1)
    control.send(b"%d" % posix.getpid())
    control.detach()
    posix.closerange(5, FIRST_OTHER)
    process_control.show()
