import {
  either,
  forever,
  killed,
  mark,
  noProcess,
  outOfMemory,
  pythonShell,
  shell,
  signalRefused,
  timedOut,
  type Attack,
} from './attack.ts'

/** What starts too many processes, or such as stay. */
export const processes: Attack[] = [
  {
    name: 'starts threads',
    ends: either(outOfMemory, noProcess, timedOut, /ERR_WORKER|^Error: The process was ended by SIG/),
    javascript: `const { Worker } = require('worker_threads'); for (let n = 0; n < 1000; n++) await new Promise((ok, no) => new Worker('setInterval(() => {}, 1e6)', { eval: true }).on('online', ok).on('error', no)); ${forever}`,
    python: `import threading, time\nfor n in range(5000): threading.Thread(target=time.sleep, args=(1000,)).start()\ntime.sleep(1000)`,
    timeoutMs: 2500,
  },
  {
    name: 'bombs with forks of a shell',
    // Or the first shell is the one that can't fork, and ends.
    ends: either(timedOut, noProcess, outOfMemory, /^Error: Command failed: f\(\)|^the value null$/),
    javascript: shell(
      `f() { [ $1 -gt 9 ] && exec sleep ${mark}; f $(($1+1)) & f $(($1+1)) & sleep ${mark}; }; f 0; wait`,
    ),
    python: pythonShell(
      `f() { [ $1 -gt 9 ] && exec sleep ${mark}; f $(($1+1)) & f $(($1+1)) & sleep ${mark}; }; f 0; wait`,
    ),
    timeoutMs: 1500,
  },
  {
    name: 'starts processes one by one',
    ends: either(noProcess, outOfMemory),
    javascript: `const { spawn } = require('child_process'); for (let n = 0; n < 2000; n++) await new Promise((ok, no) => spawn('sleep', ['${mark}'], { stdio: 'ignore' }).on('spawn', ok).on('error', no)); ${forever}`,
    python: `import os, time\nfor n in range(2000):\n    if os.fork() == 0:\n        os.execvp("sleep", ["sleep", "${mark}"])\ntime.sleep(1000)`,
    timeoutMs: 60_000,
  },
  {
    name: 'forks forks that fork',
    ends: either(noProcess, timedOut, outOfMemory),
    python: `import os, time\nfor n in range(11): os.fork()\ntime.sleep(1000)`,
    timeoutMs: 1500,
  },
  {
    name: 'leaves processes that detached themselves',
    ends: { value: 1 },
    javascript: `
      const { spawn, execSync } = require('child_process')
      spawn('setsid', ['sleep', '${mark}'], { detached: true, stdio: 'ignore' }).unref()
      spawn('nohup', ['sleep', '${mark}'], { stdio: 'ignore' }).unref()
      execSync('(setsid sh -c "(trap : TERM; sleep ${mark}) & sleep ${mark}" >/dev/null 2>&1 &)')
      execSync("bash -c 'sleep ${mark} >/dev/null 2>&1 & disown'")
      return 1`,
    python: `
import os, subprocess
subprocess.Popen(["setsid", "sleep", "${mark}"], start_new_session=True)
subprocess.Popen(["nohup", "sleep", "${mark}"], stdout=subprocess.DEVNULL)
os.system('(setsid sh -c "(trap : TERM; sleep ${mark}) & sleep ${mark}" >/dev/null 2>&1 &)')
os.system("bash -c 'sleep ${mark} >/dev/null 2>&1 & disown'")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "${mark}"])
    os._exit(0)
return 1`,
  },
  {
    name: 'has processes that ignore SIGTERM',
    ends: timedOut,
    javascript: `process.on('SIGTERM', () => {}); for (let n = 0; n < 5; n++) require('child_process').spawn('sh', ['-c', 'trap "" TERM HUP INT; while :; do sleep ${mark}; done'], { detached: n % 2 === 0, stdio: 'ignore' }); ${forever}`,
    python: `import signal, subprocess, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nfor n in range(5): subprocess.Popen(["sh", "-c", 'trap "" TERM HUP INT; while :; do sleep ${mark}; done'], start_new_session=n % 2 == 0)\ntime.sleep(1000)`,
    timeoutMs: 300,
  },
  {
    name: 'has processes that halt themselves',
    ends: timedOut,
    javascript: `for (let n = 0; n < 5; n++) require('child_process').spawn('sh', ['-c', 'kill -STOP $$; sleep ${mark}'], { stdio: 'ignore' }); ${forever}`,
    python: `import subprocess, time\nfor n in range(5): subprocess.Popen(["sh", "-c", 'kill -STOP $$; sleep ${mark}'])\ntime.sleep(1000)`,
    timeoutMs: 300,
  },
]

// The kernel calls it a success when each single one was refused.
const reachedNobody = /^ValueError: is over$/

/** What turns on its limits, and on what is around it. */
export const around: Attack[] = [
  {
    name: 'raises its limits',
    ends: /Operation not permitted|failed to set|not allowed to raise|Command failed/,
    javascript: `require('child_process').execSync('prlimit --nofile=1000000:1000000 --data=unlimited true')`,
    python:
      'import resource\nfor each in (resource.RLIMIT_DATA, resource.RLIMIT_NOFILE): resource.setrlimit(each, (2 ** 40, 2 ** 40))',
  },
  {
    name: 'closes all descriptors',
    ends: /^Error: The process/,
    javascript: 'for (let fd = 0; fd < 64; fd++) try { require("fs").closeSync(fd) } catch {}\nreturn 1',
    python: 'import os\nos.closerange(0, 64)\nreturn 1',
  },
  {
    name: 'kills its parent',
    // The kernel lets no process of a namespace kill its first one.
    ends: either(signalRefused, /^Error: nothing came of it$/, killed),
    javascript: `process.kill(process.ppid, 'SIGKILL'); process.kill(1, 'SIGKILL'); await new Promise((r) => setTimeout(r, 50)); throw new Error('nothing came of it')`,
    python: `import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nraise ValueError("not refused")`,
  },
  {
    name: 'halts its parent',
    ends: either(signalRefused, /^Error: nothing came of it$/, timedOut),
    javascript: `process.kill(process.ppid, 'SIGSTOP'); await new Promise((r) => setTimeout(r, 50)); throw new Error('nothing came of it')`,
    python: `import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nraise ValueError("not refused")`,
  },
  {
    name: 'kills all that it can',
    ends: either(signalRefused, killed, reachedNobody),
    javascript: `require('child_process').spawnSync('sh', ['-c', 'kill -9 -1']); throw new Error('is over')`,
    python: `import os, signal\nos.kill(-1, signal.SIGKILL)\nraise ValueError("is over")`,
  },
  {
    name: 'halts all that it can',
    ends: either(signalRefused, timedOut, reachedNobody),
    javascript: `require('child_process').spawnSync('sh', ['-c', 'kill -STOP -1']); throw new Error('is over')`,
    python: `import os, signal\nos.kill(-1, signal.SIGSTOP)\nraise ValueError("is over")`,
    timeoutMs: 300,
  },
  {
    name: 'calls the service without end',
    ends: /^TimeoutError/,
    javascript: `const call = (n) => { const body = Buffer.from(JSON.stringify({ number: n, method: 'runSync', identifier: 'x' }) + '\\n{}'); const head = Buffer.alloc(9); head.writeUInt32LE(body.length + 5); head[4] = 67; head.writeUInt32LE(1, 5); return Buffer.concat([head, body]) }; for (let n = 1; ; n++) require('fs').writeSync(4, call(n))`,
    python: `import os, json, struct\nn = 0\nwhile True:\n    n += 1\n    body = json.dumps({"number": n, "method": "runSync", "identifier": "x"}).encode() + b"\\n{}"\n    os.write(4, struct.pack("<IBI", len(body) + 5, 67, 1) + body)`,
    timeoutMs: 1000,
  },
]
