"""
pty.py ROWS COLUMNS PROGRAM [ARGUMENT...]: runs a program on a terminal of its own; the same as pty.c, for machines that
have Python and no compiler.

Standard input is typed into the terminal, what the terminal shows is standard output. Descriptor 3 tells first, in one
byte, whether the program runs: 0, the number of the error, or 255 where there are no terminals; it takes sizes, each two
numbers of two bytes: rows and columns. Ends as the program does.
"""

import errno
import fcntl
import os
import resource
import select
import signal
import struct
import sys
import termios

INPUT, OUTPUT, CONTROL = 0, 1, 3
NO_TERMINAL = 255
END_OF_INPUT = b"\x04"
PIECE = 64 * 1024
SIZE = struct.Struct(">HH")


def main():
    rows, columns = int(sys.argv[1]), int(sys.argv[2])
    program = sys.argv[3:]
    try:
        master, slave = os.openpty()
    except OSError:
        os.write(CONTROL, bytes([NO_TERMINAL]))
        os._exit(1)
    resize(master, rows, columns)
    wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    told, tell = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        become(program, slave, tell)
    os.close(slave)
    os.close(tell)
    fault = os.read(told, 1)
    os.write(CONTROL, fault or b"\0")
    if fault:
        os._exit(127)
    end_as(relay(master, child, wake))


def become(program, slave, tell):
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.close(CONTROL)
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for descriptor in range(3):
            os.dup2(slave, descriptor)
        os.execvp(program[0], program)
    except OSError as error:
        os.write(tell, bytes([error.errno & 0x7F]))
    os._exit(127)


def resize(master, rows, columns):
    try:
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    except OSError:
        pass  # The program has just ended.


def relay(master, child, wake):
    """Passes bytes on, each way as fast as its reader takes them, until the program has ended; gives its wait status."""
    for descriptor in (INPUT, OUTPUT, CONTROL, master):
        os.set_blocking(descriptor, False)
    typed, shown, sizes, status = b"", b"", b"", None
    hears, listens, stands = True, True, True
    while status is None or shown or stands:
        poller = select.poll()
        if status is None:
            poller.register(wake, select.POLLIN)
        if listens:
            poller.register(CONTROL, select.POLLIN)
        if hears and not typed and stands:
            poller.register(INPUT, select.POLLIN)
        if shown:
            poller.register(OUTPUT, select.POLLOUT)
        elif stands:
            poller.register(master, select.POLLIN | (select.POLLOUT if typed else 0))
        if shown and typed and stands:
            # Asked in turns, as a terminal that has hung up would not let this wait.
            poller.register(master, select.POLLOUT)
        # After its end nothing more comes than what is there, once it is looked for after that end.
        is_last = status is not None and not shown and stands
        ready = dict(poller.poll(None if status is None or shown else 0))
        if wake in ready:
            drain(wake)
            pid, found = os.waitpid(child, os.WNOHANG)
            status = found if pid == child else None
        if CONTROL in ready:
            piece = read(CONTROL)
            listens = piece != b""
            sizes += piece or b""
            while len(sizes) >= SIZE.size:
                resize(master, *SIZE.unpack(sizes[: SIZE.size]))
                sizes = sizes[SIZE.size :]
        if INPUT in ready:
            piece = read(INPUT)
            hears = piece != b""
            typed = END_OF_INPUT if piece == b"" else piece or b""
        if OUTPUT in ready:
            shown = write(OUTPUT, shown)
            if shown is None:
                # Nobody looks any more: the terminal hangs up.
                os._exit(1)
        if ready.get(master, 0) & select.POLLOUT and typed:
            typed = write(master, typed) or b""
        if ready.get(master, 0) & (select.POLLHUP | select.POLLERR):
            typed = b""  # Nobody reads any more: else this would be told again and again.
        if ready.get(master, 0) & (select.POLLIN | select.POLLHUP | select.POLLERR) and not shown:
            piece = read(master)
            stands = piece != b""
            shown = piece or b""
        if is_last and master not in ready:
            stands = False
    return status


def drain(descriptor):
    while read(descriptor):
        pass


def read(descriptor):
    """Bytes; empty at the end, None where there is nothing now."""
    try:
        return os.read(descriptor, PIECE)
    except BlockingIOError:
        return None
    except OSError as error:
        if error.errno == errno.EINTR:
            return None
        return b""


def write(descriptor, data):
    """What is left of it; None where nobody reads."""
    try:
        return data[os.write(descriptor, data) :]
    except BlockingIOError:
        return data
    except OSError:
        return None


def end_as(status):
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(status)
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)


main()
