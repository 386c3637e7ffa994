"""All that is below a process, however it detached itself: orphans come to the subreaper. For
launchers and for children that run Python."""

import posix


def descendants(top):
    """The processes below this one that still run."""
    children = {}
    for name in posix.listdir("/proc"):
        if name.isdigit():
            state, parent = state_and_parent(name)
            if state != "Z":
                children.setdefault(parent, []).append(int(name))
    found, open_ends = [], [top]
    while open_ends:
        below = children.get(open_ends.pop(), [])
        found.extend(below)
        open_ends.extend(below)
    return found


def state_and_parent(pid):
    try:
        stat = posix.open("/proc/%s/stat" % pid, posix.O_RDONLY)
    except OSError:
        return "Z", 0
    try:
        text = posix.read(stat, 512)
    except OSError:
        return "Z", 0
    finally:
        posix.close(stat)
    fields = text[text.rindex(b")") + 2 :].split(b" ", 2)
    return fields[0].decode(), int(fields[1])


def send(pid, number):
    try:
        posix.kill(pid, number)
    except OSError:
        pass  # It has just gone.
