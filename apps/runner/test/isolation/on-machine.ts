import { byCalls, inBoth, lists, opens, whoMayWrite, type Attempt } from './attempt.ts'

const asRoot = { control: 'root' } as const

/** Devices, settings of the machine, and rights. */
export const attemptsOnMachine: Attempt[] = [
  opens('opens the memory of the machine', 'every level', 'r', '/dev/mem', {
    control: whoMayWrite(() => '/dev/mem'),
  }),
  opens('opens the log of the kernel', 'every level', 'r', '/dev/kmsg', asRoot),
  opens('opens what makes devices of files', 'every level', 'r', '/dev/loop-control', asRoot),
  opens('opens what makes file systems of programs', 'every level', 'r+', '/dev/fuse', asRoot),
  opens('opens what makes interfaces', 'every level', 'r+', '/dev/net/tun', asRoot),
  opens('opens what makes terminals', 'every level', 'r+', '/dev/ptmx'),
  inBoth(
    'sees disks',
    'every level',
    `return fs.readdirSync('/dev').some((name) => /^(loop|sd|vd|nvme|dm-)/.test(name))`,
    `return any(name.startswith(('loop', 'sd', 'vd', 'nvme', 'dm-')) for name in os.listdir('/dev'))`,
  ),
  lists('looks at the devices of the machine', 'every level', '/sys/class'),
  lists('looks at the cgroups of the machine', 'every level', '/sys/fs/cgroup'),
  opens('opens what makes core files', 'every level', 'r+', '/proc/sys/kernel/core_pattern', asRoot),
  opens('opens the name of the machine', 'every level', 'r+', '/proc/sys/kernel/hostname', asRoot),
  inBoth(
    'chooses the number of the next process',
    'every level',
    `fs.writeFileSync('/proc/sys/kernel/ns_last_pid', fs.readFileSync('/proc/sys/kernel/ns_last_pid'))`,
    `shell('n=$(cat /proc/sys/kernel/ns_last_pid) && echo $n > /proc/sys/kernel/ns_last_pid')`,
    asRoot,
  ),
  opens('opens what forwards packets', 'every level', 'r+', '/proc/sys/net/ipv4/ip_forward', asRoot),
  opens('opens the keys of the machine', 'every level', 'a', '/proc/sysrq-trigger', { control: 'none' }),
  inBoth(
    'reads the keys of others',
    'every level',
    `return fs.readFileSync('/proc/keys').length > 0`,
    `return len(open('/proc/keys').read()) > 0`,
    asRoot,
  ),
  inBoth(
    'reads what the host is called',
    'namespaces',
    `return os.hostname() === probe.hostName`,
    `return socket.gethostname() == probe['hostName']`,
  ),
  inBoth(
    'sees more of the machine than programs need',
    'namespaces',
    `return fs.existsSync('/var/lib')`,
    `return os.path.exists('/var/lib')`,
  ),
  inBoth(
    'has rights of its own',
    'namespaces',
    `return !/CapEff:\\t0+\\n/.test(fs.readFileSync('/proc/self/status', 'latin1'))`,
    `return 'CapEff:\\t0000000000000000\\n' not in open('/proc/self/status').read()`,
    asRoot,
  ),
  inBoth(
    'becomes another account',
    'namespaces',
    `return shell('setpriv --reuid 65534 --clear-groups true') === ''`,
    `apart(lambda: os.setresuid(65534, 65534, 65534))`,
    asRoot,
  ),
  inBoth(
    'leaves its groups',
    'namespaces',
    `return shell('setpriv --clear-groups true') === ''`,
    `apart(lambda: os.setgroups([]))`,
    asRoot,
  ),
  inBoth(
    'becomes root by a program',
    'every level',
    `return shell('setpriv --no-new-privs true; su -c "id -u" root').trim() === '0'`,
    `return subprocess.run(['su', '-c', 'id -u', 'root'], stdin=subprocess.DEVNULL, capture_output=True, timeout=2).stdout == b'0\\n'`,
    asRoot,
  ),
  byCalls(
    'is never killed for memory',
    'namespaces',
    `
apart(lambda: os.close(os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-1000') and 2))`,
    { control: 'none' },
  ),
  byCalls('runs before all others', 'every level', `apart(lambda: os.setpriority(os.PRIO_PROCESS, 0, -5))`, asRoot),
  byCalls(
    'runs in real time',
    'every level',
    `apart(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))`,
    asRoot,
  ),
  byCalls('lifts its limits', 'namespaces', `apart(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192)))`, {
    control: 'none',
  }),
]
