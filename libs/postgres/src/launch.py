"""Runs a program of PostgreSQL as a user that it accepts, bound to the life of the process that asked for it.

usage: python3 -I -S launch.py PARENT_PID DATA_FOLDER PROGRAM [ARGUMENT...]

PostgreSQL refuses uid 0. Root therefore becomes, in a user namespace of its own, another uid that is still the owner of
root's files outside: folders that only root may enter stay open to it. Where the kernel allows no user namespace, or the
data already belongs to another user, that user is taken (else one without rights, who is given the data folder).
When the parent dies, the program gets SIGINT, which for PostgreSQL is a fast shutdown.
"""

import ctypes
import os
import pwd
import signal
import sys

CLONE_NEWUSER = 0x10000000
PR_SET_PDEATHSIG = 1

libc = ctypes.CDLL(None, use_errno=True)


def main():
    parent, folder, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if os.geteuid() == 0:
        leave_root(folder, command[0])
    if sys.platform == 'linux':
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit(0)
    os.execv(command[0], command)


def leave_root(folder, program):
    owner = os.stat(folder).st_uid
    user = unprivileged_user()
    if owner == 0 and allowed_namespace(user):
        enter_namespace(user)
        require_access(folder, program, 'on this machine it runs as another user in a namespace of its own, who')
        return
    try:
        become_owner(folder, user)
    except OSError as error:
        sys.exit(
            'PostgreSQL does not run as root, this machine allows no user namespaces, and root can not become another '
            f'user ({error}). Run the service as an ordinary user, or set DATABASE_URL to a PostgreSQL server of your own.'
        )
    owner = os.geteuid()
    require_access(folder, program, f'this machine allows no user namespaces, and uid {owner}')


def become_owner(folder, user):
    """The folder's; where root has it, this user is given it first."""
    if os.stat(folder).st_uid == 0:
        give_away(folder, user)
    owner, group = os.stat(folder).st_uid, os.stat(folder).st_gid
    # Such as the password, which the service has just written as root.
    for entry in os.scandir(folder):
        if entry.stat(follow_symlinks=False).st_uid == 0:
            os.chown(entry.path, owner, group, follow_symlinks=False)
    os.setgroups([])
    os.setgid(group)
    os.setuid(owner)


def require_access(folder, program, who):
    for path, mode in ((folder, os.R_OK | os.W_OK | os.X_OK), (program, os.R_OK | os.X_OK)):
        if not os.access(path, mode):
            sys.exit(
                f'PostgreSQL does not run as root, {who} can not '
                f'reach {path}. Run the service as an ordinary user, or keep the program and DATA_DIR in folders that '
                'every user may enter, or set DATABASE_URL to a PostgreSQL server of your own.'
            )


def unprivileged_user():
    for name in ('postgres', 'nobody'):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    for user in pwd.getpwall():
        if user.pw_uid != 0:
            return user
    sys.exit('PostgreSQL does not run as root, and this machine knows no other user. Add one, or set DATABASE_URL.')


def allowed_namespace(user):
    """Tries it in a child, as a namespace that was entered but not mapped could not be left again."""
    if sys.platform != 'linux':
        return False
    child = os.fork()
    if child == 0:
        try:
            enter_namespace(user)
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def enter_namespace(user):
    # Asked for here, as inside, before the mapping, every id looks like nobody's.
    gid = os.getegid()
    if libc.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), 'unshare')
    write('/proc/self/setgroups', 'deny')
    write('/proc/self/gid_map', f'{user.pw_gid} {gid} 1')
    write('/proc/self/uid_map', f'{user.pw_uid} 0 1')


def write(path, text):
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def give_away(folder, user):
    os.chown(folder, user.pw_uid, user.pw_gid)
    for at, folders, files in os.walk(folder):
        for name in folders + files:
            os.chown(os.path.join(at, name), user.pw_uid, user.pw_gid, follow_symlinks=False)


main()
