import { byCalls, byProgram, inBoth, type Attempt } from './attempt.ts'

const asRoot = { control: 'root' } as const
const isHeard = (name: string, numbers: string, more: Pick<Attempt, 'control'> = asRoot) =>
  byCalls(name, 'every level', `return is_heard(${numbers})`, more)
// Not every kernel has what they ask for.
const inVain = { control: 'none' } as const
const isX86 = () => process.arch === 'x64'

/** Mounts, namespaces and other system calls by which processes have left their jails. */
export const attemptsOnKernel: Attempt[] = [
  byProgram('makes namespaces by a program', 'every level', 'unshare --user --map-root-user true'),
  byCalls('makes a namespace of accounts', 'every level', `apart(lambda: call(272, 97, 0x10000000))`),
  byCalls('makes a namespace of mounts', 'every level', `apart(lambda: call(272, 97, 0x00020000))`, asRoot),
  byCalls('makes a namespace of the network', 'every level', `apart(lambda: call(272, 97, 0x40000000))`, asRoot),
  byCalls('makes a namespace of processes', 'every level', `apart(lambda: call(272, 97, 0x20000000))`, asRoot),
  byCalls('makes a namespace of cgroups', 'every level', `apart(lambda: call(272, 97, 0x02000000))`, asRoot),
  byCalls('makes a namespace of clocks', 'every level', `apart(lambda: call(272, 97, 0x00000080))`, asRoot),
  byCalls(
    'forks into a namespace of accounts',
    'every level',
    `
made = call(56, 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
if made == 0:
    os._exit(0)
os.waitpid(made, 0)`,
  ),
  byCalls(
    'forks into a namespace of accounts by the newer call',
    'every level',
    `
made = call(435, 435, struct.pack('<8Q', 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0), 64)
if made == 0:
    os._exit(0)
os.waitpid(made, 0)`,
  ),
  byCalls(
    'goes into the names of another process',
    'every level',
    `apart(lambda: call(308, 268, os.open('/proc/%d/ns/uts' % probe['pid'], os.O_RDONLY), 0))`,
    asRoot,
  ),
  byCalls(
    'goes into the names of its own',
    'every level',
    `apart(lambda: call(308, 268, os.open('/proc/self/ns/uts', os.O_RDONLY), 0))`,
    asRoot,
  ),
  byCalls(
    'mounts',
    'every level',
    `
os.mkdir('/tmp/mount-%d' % os.getpid())
call(165, 40, b'none', b'/tmp/mount-%d' % os.getpid(), b'tmpfs', 0, 0)
call(166, 39, b'/tmp/mount-%d' % os.getpid(), 2)
os.rmdir('/tmp/mount-%d' % os.getpid())`,
    asRoot,
  ),
  isHeard('unmounts', `166, 39, b'/nowhere', 0`),
  isHeard('turns the root around', `155, 41, b'/nowhere', b'/nowhere'`),
  byCalls('changes its root', 'every level', `apart(lambda: call(161, 51, b'/'))`, asRoot),
  byCalls('opens a tree of mounts', 'every level', `os.close(call(428, 428, -100, b'/', 1))`, asRoot),
  byCalls('opens a file system', 'every level', `os.close(call(430, 430, b'tmpfs', 0))`, asRoot),
  isHeard('picks a file system', `433, 433, -100, b'/', 0`),
  isHeard('moves a mount', `429, 429, -1, b'', -1, b'', 0`),
  isHeard('makes mounts writable', `442, 442, -100, b'/nowhere', 0, bytes(32), 32`),
  byCalls(
    'names a file by a handle',
    'every level',
    `
handle = ctypes.create_string_buffer(struct.pack('<Ii', 120, 0), 128)
call(303, 264, -100, b'/tmp', handle, ctypes.byref(ctypes.c_int()), 0)`,
  ),
  isHeard('opens a file by a handle', `304, 265, -1, bytes(128), 0`),
  byCalls('watches files of all', 'every level', `os.close(call(300, 262, 0x200, 0))`),
  byCalls('is another kind of system', 'every level', `call(135, 92, 0xFFFFFFFF)`),
  byCalls('makes a ring of calls', 'every level', `os.close(call(425, 425, 4, ctypes.create_string_buffer(120)))`, {
    control: () => true,
  }),
  byCalls(
    'makes a map of the kernel',
    'every level',
    `os.close(call(321, 280, 0, struct.pack('<4I', 2, 4, 8, 1) + bytes(64), 80))`,
    asRoot,
  ),
  byCalls(
    'measures the machine',
    'every level',
    `os.close(call(298, 241, struct.pack('<IIQQQQQ', 1, 112, 1, 0, 0, 0, 1) + bytes(64), -1, 0, -1, 0))`,
    asRoot,
  ),
  byCalls('handles faults of memory', 'every level', `os.close(call(323, 282, 1))`),
  byCalls('makes memory that nobody sees', 'every level', `os.close(call(447, 447, 0))`, { control: 'none' }),
  byCalls('changes segments', 'every level', `call(154, 0, 0, ctypes.create_string_buffer(64), 64)`, {
    control: isX86,
  }),
  inBoth(
    'reads what the machine does for all',
    'namespaces',
    `return ['interrupts', 'softirqs', 'diskstats', 'cmdline', 'pressure/cpu'].some((name) => {
      try { return fs.readFileSync('/proc/' + name, 'utf8') !== '' } catch { return false }
    })`,
    `
def said(name):
    with open('/proc/' + name) as file:
        return file.read() != ''
return any_of(['interrupts', 'softirqs', 'diskstats', 'cmdline', 'pressure/cpu'], said)`,
  ),
  byCalls('uses ports of devices', 'every level', `apart(lambda: call(172, 0, 3))`, inVain),
  // Others may where kernel.dmesg_restrict is 0.
  byCalls('reads what the kernel says', 'every level', `call(103, 116, 10, 0, 0)`, { control: 'root' }),
  isHeard('loads a part of the kernel', `175, 105, bytes(8), 8, b''`, inVain),
  isHeard('unloads a part of the kernel', `176, 106, b'none-such', 0`, inVain),
  isHeard('loads another kernel', `246, 104, 0, 0, 0, 0xFFFFFF`, inVain),
  isHeard('stops the machine', `169, 142, 0, 0, 0, 0`),
  isHeard('takes a file for swapping', `167, 224, b'/nowhere', 0`),
  isHeard('sets limits of disks', `179, 60, 0x80000100, b'/nowhere', 0, 0`),
  isHeard('keeps accounts of processes', `163, 89, b'/nowhere'`),
  isHeard('sets the clock', `227, 112, 0, struct.pack('<qq', 0, 2_000_000_000)`),
  byCalls('asks how the clock runs', 'every level', `call(159, 171, ctypes.create_string_buffer(256))`),
  byCalls(
    'names the machine',
    'every level',
    `call(170, 161, probe['hostName'].encode(), len(probe['hostName']))`,
    asRoot,
  ),
  byCalls(
    'lists the mounts of its own',
    'every level',
    `return call(458, 458, struct.pack('<IIQQ', 24, 0, 0xFFFFFFFFFFFFFFFF, 0), ctypes.create_string_buffer(800), 100, 0) >= 0`,
    inVain,
  ),
  isHeard('asks what a mount is', `457, 457, b'', 0, 0, 0`, inVain),
  isHeard('asks what keeps it', `459, 459, 0, 0, 0, 0`, inVain),
  isHeard('asks who keeps it', `461, 461, 0, 0, 0`, inVain),
  isHeard('sets an attribute of a file anew', `463, 463, -1, 0, 0, 0, 0, 0`, inVain),
  isHeard('asks whose files are in memory', `451, 451, -1, 0, 0, 0`, inVain),
  isHeard('gives its pages away', `278, 75, -1, 0, 0, 0`, { control: () => true }),
  byCalls(
    'makes a call that is newer than the isolation',
    'every level',
    `
for number in range(463, 1200):
    try:
        if is_heard(number, number, -1, 0, 0, 0, 0, 0):
            return True
    except OSError:
        pass
raise OSError(errno.ENOSYS, 'none is there')`,
    inVain,
  ),
  byCalls(
    'makes calls of the other ABI of 64 bits',
    'every level',
    `return call(0x40000000 + 39, 0x40000000 + 172) == os.getpid()`,
    inVain,
  ),
  byCalls(
    'makes calls of 32 bits',
    'every level',
    `
def attempt():
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(bytes.fromhex('b814000000cd80c3'))
    start = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(start)() == os.getpid()
apart(attempt)`,
    { control: isX86 },
  ),
]
