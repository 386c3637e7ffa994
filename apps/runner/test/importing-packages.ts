// `now` tells one import of it from another.
const stamp = 'import os, time\nnow = time.time_ns()\npid = os.getpid()\n'

/** The flag of clone(2) that makes a sibling in place of a child. */
export const cloneParent = 0x8000

/** Packages by what they do while they are imported, beside taking the time. */
const modules: Record<string, string> = {
  plain: '',
  prints: 'print("while importing")\n',
  errs: 'import sys\nsys.stderr.write("while importing\\n")\n',
  warns: 'import warnings\nwarnings.warn("while importing")\n',
  logs: 'import logging\nlogging.getLogger("own").info("while importing")\n',
  says: `import subprocess
print("first")
subprocess.run(["sh", "-c", "echo while importing; echo while importing >&2"])
print("last")
`,
  floods: 'print("x" * 70_000)\n',
  threads: 'import threading\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n',
  opens: 'file = open("/etc/passwd")\n',
  connects: 'import socket\nserver = socket.create_server(("127.0.0.1", 0))\n',
  forks: 'import subprocess\nchild = subprocess.Popen(["sleep", "1000"])\n',
  asks: 'import subprocess\nsubprocess.run(["true"])\n',
  writes: `for name in (".cache/own", ".config/own"): os.makedirs(name, 0o700)
with open(".cache/own/list", "w") as file: file.write("kept")
os.utime(".cache/own/list", (1, 1))
`,
  writes_much: 'with open("left", "wb") as file: file.truncate(2 ** 20 + 1)\n',
  links: 'os.symlink("/etc/passwd", "left")\n',
  locks_up: 'os.mkdir("left", 0o500)\n',
  moves: 'os.mkdir("inside")\nos.chdir("inside")\n',
  shares: 'import mmap\nmemory = mmap.mmap(-1, 4096)\n',
  locks:
    'import multiprocessing\ntry:\n    lock = multiprocessing.Lock()\nexcept OSError:\n    import mmap\n    lock = mmap.mmap(-1, 4096)\n',
  alarms: 'import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nsignal.setitimer(signal.ITIMER_REAL, 1000)\n',
  seeds: 'import random\nrandom.seed(7)\n',
  reseeds: 'import random\nrandom._inst.setstate(random.Random(7).getstate())\n',
  draws: 'import random\nown = random.Random()\nfixed = random.Random(7)\nlater = random.Random()\nlater.seed(7)\n',
  derives:
    'import random\nclass Own(random.Random):\n    def seed(self, a, version=2): super().seed(a, version)\nown = Own()\n',
  unsets: 'import socket\nsocket.setdefaulttimeout(0.001)\nos.environ.pop("TMP_DATA_DIR")\n',
  hangs: 'while True: time.sleep(1)\n',
  fails: 'raise ValueError("no import")\n',
  exits: 'import sys\nsys.exit(3)\n',
  dies: 'os.kill(os.getpid(), 9)\n',
  ends: 'os._exit(4)\n',
  reads: 'variable = os.environ.get("A")\nhome = os.environ["HOME"]\nplace = os.getcwd()\n',
  // Each Debian has one of these libraries, which are linked with what registers handlers.
  handles: `import ctypes
for name in ("libsystemd.so.0", "libudev.so.1"):
    try: ctypes.CDLL(name)
    except OSError: pass
called = []
handler = ctypes.CFUNCTYPE(None)(lambda: called.append(1))
ctypes.CDLL(None)["__register_atfork"](None, None, handler, None)
`,
  hides: `import ctypes
number = 220 if os.uname().machine == "aarch64" else 56
if ctypes.CDLL(None).syscall(number, ${cloneParent}, 0, 0, 0, 0) == 0: time.sleep(1000)
`,
  adopts: 'import ctypes\nctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\n',
  lurks: `import gc, sys, _thread
started = []
def flood():
    time.sleep(0.3)
    while True: os.write(1, b"x" * 60000 + b"\\n")
def collected(phase, info):
    if phase == "stop" and not started and sys._getframe(1).f_code.co_name == "freeze":
        started.append(_thread.start_new_thread(flood, ()))
gc.callbacks.append(collected)
`,
  peeks: `import sys
frame, seen = sys._getframe(), False
while frame: seen, frame = seen or "a7secret" in repr(frame.f_locals), frame.f_back
`,
  of_team: 'import helper\n',
  perhaps_of_team: 'try:\n    import helper\nexcept ImportError:\n    helper = None\n',
  answers: 'import struct\nif os.environ.get("A") == "1": os.write(4, struct.pack("<IBI", 7, 86, 1) + b"\\0" + b"1")\n',
}

/** They as files of a package. */
export const importingPackages = Object.entries(modules).map(([name, text]) => ({
  path: `${name}.py`,
  text: stamp + text,
}))
