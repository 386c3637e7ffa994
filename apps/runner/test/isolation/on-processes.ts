import { byCalls, byProgram, inBoth, lists, opens, reads, type Attempt } from './attempt.ts'

/** Other processes, those of the service among them. */
export const attemptsOnProcesses: Attempt[] = [
  inBoth(
    'sees a process of the host',
    'namespaces',
    `fs.statSync('/proc/' + probe.pid)`,
    `os.stat('/proc/%d' % probe['pid'])`,
  ),
  inBoth(
    'sees the runner among the processes',
    'namespaces',
    `return pids().includes(String(probe.runnerPid))`,
    `return str(probe['runnerPid']) in pids()`,
  ),
  reads('reads the environment of a process', 'every level', '/proc/{probe.pid}/environ'),
  reads('reads the command line of a process', 'every level', '/proc/{probe.pid}/cmdline'),
  inBoth(
    'finds the mark in any environment',
    'every level',
    `return anyOf(pids(), (pid) => read('/proc/' + pid + '/environ'))`,
    `return any_of(pids(), lambda pid: read('/proc/' + pid + '/environ'))`,
  ),
  inBoth(
    'finds the mark in any command line',
    'every level',
    `return anyOf(pids(), (pid) => read('/proc/' + pid + '/cmdline'))`,
    `return any_of(pids(), lambda pid: pid != str(os.getppid()) and read('/proc/' + pid + '/cmdline'))`,
  ),
  reads('reads what a process has open', 'every level', '/proc/{probe.pid}/fd/0'),
  lists('lists what a process has open', 'every level', '/proc/{probe.pid}/fd'),
  opens('reads the map of the memory of a process', 'every level', 'r', '/proc/{probe.pid}/maps'),
  opens('opens the memory of a process', 'every level', 'r+', '/proc/{probe.pid}/mem'),
  opens('reads the limits of a process', 'every level', 'r', '/proc/{probe.pid}/limits'),
  opens('reads the state of a process', 'every level', 'r', '/proc/{probe.pid}/status'),
  lists('lists the threads of a process', 'every level', '/proc/{probe.pid}/task'),
  lists('lists the root of a process', 'every level', '/proc/{probe.pid}/root/'),
  inBoth(
    'reads where a process works',
    'every level',
    `fs.readlinkSync('/proc/' + probe.pid + '/cwd')`,
    `os.readlink('/proc/%d/cwd' % probe['pid'])`,
  ),
  opens('makes a process the first to be killed', 'every level', 'r+', '/proc/{probe.pid}/oom_score_adj'),
  opens('opens what a process dumps', 'every level', 'r+', '/proc/{probe.pid}/coredump_filter'),
  opens('reads the environment of the runner', 'every level', 'r', '/proc/{probe.runnerPid}/environ'),
  opens('opens the memory of the runner', 'every level', 'r+', '/proc/{probe.runnerPid}/mem'),
  lists('lists what the runner has open', 'every level', '/proc/{probe.runnerPid}/fd'),
  inBoth(
    'sends a signal to a process',
    'every level',
    `process.kill(probe.pid, 'SIGCONT')`,
    `os.kill(probe['pid'], signal.SIGCONT)`,
  ),
  inBoth(
    'sends a signal to the runner',
    'every level',
    `process.kill(probe.runnerPid, 'SIGCONT')`,
    `os.kill(probe['runnerPid'], signal.SIGCONT)`,
    { control: 'none' },
  ),
  inBoth(
    'changes the priority of a process',
    'every level',
    `os.setPriority(probe.pid, 19)`,
    `os.setpriority(os.PRIO_PROCESS, probe['pid'], 19)`,
  ),
  inBoth(
    'asks for the priority of a process',
    'namespaces',
    `os.getPriority(probe.pid)`,
    `os.getpriority(os.PRIO_PROCESS, probe['pid'])`,
  ),
  inBoth(
    'changes the limits of a process',
    'every level',
    `shell('prlimit --core=0 --pid ' + probe.pid)`,
    `resource.prlimit(probe['pid'], resource.RLIMIT_CORE, (0, 0))`,
  ),
  inBoth(
    'pins a process to a core',
    'every level',
    `shell('taskset -p -c 0 ' + probe.pid)`,
    `os.sched_setaffinity(probe['pid'], {0})`,
  ),
  inBoth(
    'changes the scheduler of a process',
    'every level',
    `shell('chrt --batch --pid 0 ' + probe.pid)`,
    `os.sched_setscheduler(probe['pid'], os.SCHED_BATCH, os.sched_param(0))`,
  ),
  byProgram('changes how a process waits for disks', 'every level', 'ionice -c 3 -p {probe.pid}'),
  byCalls('traces a process', 'every level', `apart(lambda: call(101, 117, 0x4206, probe['pid'], 0, 0))`),
  byCalls(
    'reads the memory of a process by a call',
    'every level',
    `
maps = open('/proc/%d/maps' % probe['pid']).read() if os.path.exists('/proc/%d/maps' % probe['pid']) else '1000-2000'
start = int([line for line in maps.splitlines() if '[stack]' in line or line == maps][0].split('-')[1].split()[0], 16) - 512
buffer = ctypes.create_string_buffer(512)
own = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 512)
theirs = (ctypes.c_uint64 * 2)(start, 512)
call(310, 270, probe['pid'], own, 1, theirs, 1, 0)
return probe['mark'].encode() in buffer.raw`,
  ),
  byCalls(
    'writes to the memory of a process by a call',
    'every level',
    `return is_heard(311, 271, probe['pid'], 0, 0, 0, 0, 0)`,
    { control: 'none' },
  ),
  byCalls(
    'takes a descriptor of a process',
    'every level',
    `
taken = call(438, 438, os.pidfd_open(probe['pid']), 0, 0)
return probe['mark'].encode() in os.pread(taken, 64, 0)`,
  ),
  byCalls('holds a process', 'namespaces', `os.close(os.pidfd_open(probe['pid']))`),
  byCalls(
    'sends a signal by a process that it holds',
    'every level',
    `signal.pidfd_send_signal(os.pidfd_open(probe['pid']), signal.SIGCONT)`,
  ),
  byCalls('compares what processes share', 'every level', `call(312, 272, probe['pid'], probe['pid'], 1, 0, 0)`),
  byCalls(
    'advises on the memory of a process',
    'every level',
    `
data = ctypes.create_string_buffer(4096)
return is_heard(440, 440, os.pidfd_open(probe['pid']), (ctypes.c_uint64 * 2)(4096, 0), 1, 20, 0)`,
    { control: 'root' },
  ),
  byCalls('moves the pages of a process', 'every level', `call(279, 239, probe['pid'], 0, 0, 0, 0, 0)`),
  byCalls('asks for the group of a process', 'namespaces', `os.getpgid(probe['pid'])`),
  byCalls(
    'reads the list of locks of a process',
    'every level',
    `call(274, 100, probe['pid'], ctypes.byref(ctypes.c_uint64()), ctypes.byref(ctypes.c_uint64()))`,
  ),
  byCalls(
    'has signals of a descriptor go to a process',
    'namespaces',
    `
one, other = os.pipe()
fcntl.fcntl(one, fcntl.F_SETOWN, probe['pid'])`,
  ),
  byCalls(
    'counts what a process does',
    'every level',
    `
event = struct.pack('<IIQQQQQ', 1, 112, 1, 0, 0, 0, 0b1100001) + bytes(64)
call(298, 241, event, probe['pid'], -1, -1, 0)`,
    { control: 'root' },
  ),
]
