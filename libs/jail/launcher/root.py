"""The root of a jail: a view of what programs need, to be read only, and private directories in memory."""

import posix
import stat
import sys

import kernel
import network
from kernel import MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_PRIVATE, MS_REC

# How the child finds itself, whoever it is outside.
INSIDE_ID = 1000
PLACES = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin")
SETTINGS = (
    *("ssl", "pki", "ca-certificates", "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime"),
    *("resolv.conf", "hosts", "host.conf", "nsswitch.conf", "gai.conf", "services", "protocols", "mime.types"),
    # Where libraries that draw text find the fonts in /usr.
    "fonts",
    # Else pip fails where it is there and may not be read.
    "debian_version",
)
DEVICES = ("null", "zero", "full", "random", "urandom")
LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
ACCOUNTS = {
    "passwd": "root:x:0:0::/:/usr/sbin/nologin\n%(account)s:x:1000:1000::%(home)s:/bin/sh\n"
    "nobody:x:65534:65534::/:/usr/sbin/nologin\n",
    "group": "root:x:0:\n%(account)s:x:1000:\nnogroup:x:65534:\n",
}
# Of the machine, not of a process: some tell of others.
MASKED = (
    *("kcore", "keys", "key-users", "kmsg", "sysrq-trigger", "timer_list", "sched_debug"),
    *("cmdline", "interrupts", "softirqs", "diskstats", "pressure/cpu", "pressure/io", "pressure/memory", "pressure/irq"),
)
SHARED_MB = 64
# Of what else counts for the account that made the jail.
BOUNDS = {"max_user_namespaces": "0", "max_inotify_instances": "16", "max_inotify_watches": "8192"}
# Of a jail that has terminals.
TERMINALS = 64


def make_root(scratch, isolation, owner):
    """
    A root of what programs need, to be read only, with a private directory in memory. `owner`: the number in this user
    namespace of who is to have that.
    """
    own_umask = posix.umask(0o022)
    kernel.mount("none", "/", "", MS_REC | MS_PRIVATE)
    kernel.mount("root", scratch, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m,nr_inodes=4096")
    for path in PLACES:
        show(path, scratch)
    for mount in isolation["readable"]:
        show(mount["path"], scratch, mount["shown"])
    for path in python_mounts():
        show(path, scratch)
    own_settings = {name: text % isolation for name, text in ACCOUNTS.items()}
    if isolation["network"] == "own":
        own_settings["resolv.conf"] = "nameserver %s\n" % network.names_server(isolation)
    for name in SETTINGS:
        if name not in own_settings:
            show("/etc/" + name, scratch)
    for name, text in own_settings.items():
        write("%s/etc/%s" % (scratch, name), text)
    for name in {"/dev/shm", "/tmp", "/proc", isolation["home"]}:
        make_directories(scratch + name)
    for name in DEVICES:
        write("%s/dev/%s" % (scratch, name), "")
    for name, target in LINKS.items():
        posix.symlink(target, "%s/dev/%s" % (scratch, name))
    if isolation["terminals"]:
        make_directories(scratch + "/dev/pts")
        posix.symlink("pts/ptmx", scratch + "/dev/ptmx")
    read_only = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV
    kernel.protect(scratch, read_only)
    for name in DEVICES:
        kernel.bind("/dev/" + name, "%s/dev/%s" % (scratch, name))
    memory(scratch + isolation["home"], isolation["homeMb"], isolation, owner)
    if isolation["home"] != "/tmp":
        memory(scratch + "/tmp", min(SHARED_MB, isolation["homeMb"]), isolation, owner)
    memory(scratch + "/dev/shm", min(SHARED_MB, isolation["homeMb"]), isolation, owner)
    mount_proc(scratch + "/proc")
    if isolation["terminals"]:
        mount_terminals(scratch + "/dev/pts")
    posix.chdir(scratch)
    kernel.pivot_here()
    kernel.set_host_name(isolation["account"])
    posix.umask(own_umask)


def python_mounts():
    """Where Python lies, when it does not belong to the system."""
    return [path for path in (sys.base_prefix, sys.base_exec_prefix) if not is_below(path, "/usr")]


def is_below(path, directory):
    return (path + "/").startswith(directory + "/")


def show(path, root, target=None):
    """The file, directory or link of the machine in the jail, if there is such; at the same path unless one is given."""
    shown = root + (target or path)
    try:
        kind = posix.lstat(path).st_mode
        if stat.S_ISLNK(kind):
            kind = posix.stat(path).st_mode
            target = posix.readlink(path)
            if is_below(target, "/usr") or is_below("/" + target, "/usr"):
                make_directories(parent(shown))
                return posix.symlink(target, shown)
    except OSError:
        return None
    if is_there(shown):
        return None
    if stat.S_ISDIR(kind):
        make_directories(shown)
    else:
        make_directories(parent(shown))
        write(shown, "")
    return kernel.bind(path, shown)


def is_there(path):
    try:
        posix.lstat(path)
        return True
    except OSError:
        return False


def parent(path):
    return path.rpartition("/")[0]


def make_directories(path):
    if not is_there(path):
        make_directories(parent(path))
        posix.mkdir(path, 0o755)


def memory(path, megabytes, isolation, owner):
    options = "mode=700,uid=%d,gid=%d,size=%dm,nr_inodes=%d"
    numbers = (owner, owner, megabytes, megabytes * isolation["filesPerMb"])
    kernel.mount("tmp", path, "tmpfs", MS_NOSUID | MS_NODEV, options % numbers)


def mount_proc(path):
    """What is to be known of the jail's own processes; nothing where the kernel or a container does not allow it."""
    try:
        kernel.mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    except OSError:
        return
    for name in MASKED:
        if is_there("%s/%s" % (path, name)):
            kernel.bind("/dev/null", "%s/%s" % (path, name))


def bound_namespaces():
    """In the user namespace of the child, once that is there."""
    for name, bound in BOUNDS.items():
        try:
            write("/proc/sys/user/" + name, bound)
        except OSError:
            pass  # The kernel has no such bound; namespaces are refused by the filter of system calls, too.


def mount_terminals(path):
    """Of the jail alone; none where the kernel does not allow it."""
    try:
        kernel.mount("terminals", path, "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=666,max=%d" % TERMINALS)
    except OSError:
        pass  # Who asks for a terminal is told.


def write(path, text):
    descriptor = posix.open(path, posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC, 0o644)
    try:
        posix.write(descriptor, text.encode())
    finally:
        posix.close(descriptor)
