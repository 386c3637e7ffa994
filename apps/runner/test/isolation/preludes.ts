/** What attempts of each language may use beside `probe`. */
export const preludes = {
  javascript: String.raw`
    const fs = require('fs'), net = require('net'), os = require('os'), path = require('path')
    const dgram = require('dgram'), { execFileSync, spawn } = require('child_process')
    const read = (file) => fs.readFileSync(file, 'latin1').includes(probe.mark)
    const shell = (command) => execFileSync('sh', ['-c', command], { stdio: 'pipe', timeout: 8000 }).toString()
    const pids = () => fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    const anyOf = (things, look) => things.some((thing) => { try { return look(thing) } catch { return false } })
    const connects = (where) => new Promise((resolve, reject) => {
      const socket = net.connect(where, () => { socket.destroy(); resolve(true) }).on('error', reject)
    })
    const asks = (port, host) => new Promise((resolve, reject) => {
      const socket = dgram.createSocket(host.includes(':') ? 'udp6' : 'udp4')
      const end = (settle) => (value) => { socket.close(); settle(value) }
      setTimeout(() => reject(new Error('no answer')), 2000).unref()
      socket.on('message', end(resolve)).on('error', end(reject)).send('?', port, host, (error) => error && reject(error))
    })
    const outcome = async (attempt) => {
      let timer
      const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('no answer in time')), 8000) })
      try {
        const got = await Promise.race([attempt(), late])
        return { got: got !== false, how: String(got) }
      } catch (error) {
        return { got: false, how: String(error?.stderr || error?.message || error) }
      } finally {
        clearTimeout(timer)
      }
    }
    const inChild = (program) => new Promise((resolve, reject) => {
      const child = spawn('python3', ['-I', '-']).on('error', reject)
      let said = '', complaints = ''
      child.stdout.on('data', (data) => { said += data })
      child.stderr.on('data', (data) => { complaints += data })
      child.stdin.end(program)
      child.on('close', () => (said === '' ? reject(new Error(complaints || 'no word')) : resolve(JSON.parse(said))))
    })
    const makeAll = async (attempts, program) => {
      const byChild = inChild(program)
      byChild.catch(() => {})
      const found = {}
      for (const [name, attempt] of attempts) found[name] = await outcome(attempt)
      return { ...found, ...(await byChild) }
    }`,
  python: String.raw`
import ctypes, errno, fcntl, glob, mmap, os, resource, signal, socket, stat, struct, subprocess, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
IS_ARM = os.uname().machine == "aarch64"

def call(x86, arm, *values):
    numbers = [ctypes.c_long(each) if isinstance(each, int) else each for each in values]
    got = libc.syscall(ctypes.c_long(arm if IS_ARM else x86), *numbers)
    if got == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got

def is_heard(x86, arm, *values):
    """Whether the kernel looked at what it was asked, which makes no sense, instead of refusing it."""
    try:
        call(x86, arm, *values)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS):
            raise
    return True

def read(path):
    with open(path, "rb") as file:
        return probe["mark"].encode() in file.read(1 << 20)

def shell(command):
    subprocess.run(["sh", "-c", command], check=True, capture_output=True, timeout=8)

def pids():
    return [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]

def any_of(things, look):
    for thing in things:
        try:
            if look(thing):
                return True
        except OSError:
            pass
    return False

def connects(family, address, protocol=0):
    with socket.socket(family, socket.SOCK_STREAM, protocol) as one:
        one.settimeout(3)
        one.connect(address)

def asks(port, host):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(2)
        one.sendto(b"?", (host, port))
        one.recv(16)

def apart(attempt):
    """In a process of its own, for what can't be undone."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(1 if attempt() is False else 0)
        except OSError as error:
            os._exit(error.errno)
        finally:
            os._exit(255)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status != 0:
        raise OSError(max(status, 0), os.strerror(status) if status > 0 else "ended by signal %d" % -status)

def late(*_):
    raise TimeoutError("no answer in time")

def make_all(attempts):
    found = {}
    signal.signal(signal.SIGALRM, late)
    for name, attempt in attempts.items():
        signal.setitimer(signal.ITIMER_REAL, 8)
        try:
            got = attempt()
            found[name] = {"got": got is not False, "how": str(got)}
        except BaseException as error:
            found[name] = {"got": False, "how": "%s: %s" % (type(error).__name__, getattr(error, "stderr", None) or error)}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return found
`,
}
