"""Directory trees, removed whatever their modes, their depth and the length of their paths. For launchers and for
children that run Python."""

import posix


def remove(path):
    """Removes a file or a tree; links are removed, never followed. Throws OSError for what resists. For one thread."""
    try:
        return posix.unlink(path)
    except (IsADirectoryError, PermissionError):
        pass
    try:
        return posix.rmdir(path)
    except OSError:
        pass
    before = posix.open(".", posix.O_PATH | posix.O_DIRECTORY | posix.O_CLOEXEC)
    try:
        enter(path)
        empty_here()
    finally:
        posix.fchdir(before)
        posix.close(before)
    return posix.rmdir(path)


def enter(path):
    directory = posix.open(path, posix.O_PATH | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    try:
        # Of what was opened, so that no link that came into its place is followed.
        posix.chmod("/proc/self/fd/%d" % directory, 0o700)
    except FileNotFoundError:
        posix.chmod(path, 0o700)  # Where there is no /proc.
    posix.fchdir(directory)
    posix.close(directory)


def empty_here():
    """Step by step down and up, so that neither the depth nor the length of a path is bounded."""
    way = []
    while True:
        inside, is_empty = look_here()
        if inside is not None:
            enter(inside)
            way.append(inside)
        elif is_empty:
            if not way:
                return
            posix.chdir("..")
            posix.rmdir(way.pop())


def look_here():
    """Removes what can be at once: the name of a directory that has something in it, and whether nothing was here."""
    is_empty = True
    with posix.scandir(".") as entries:
        for entry in entries:
            is_empty = False
            if not entry.is_dir(follow_symlinks=False):
                posix.unlink(entry.name)
                continue
            try:
                posix.rmdir(entry.name)
            except OSError:
                return entry.name, False
    return None, is_empty
