import { byCalls, byProgram, inBoth, lists, opens, reads, type Attempt } from './attempt.ts'

/** Memory, queues and sockets that processes of a machine share. */
export const attemptsOnSharedThings: Attempt[] = [
  byCalls('makes shared memory', 'every level', `call(31, 195, call(29, 194, 0, 64, 0o600), 0, 0)`),
  byCalls(
    'reads shared memory of others',
    'every level',
    `
libc.shmat.restype = ctypes.c_void_p
if libc.shmat(probe['sharedMemory'], None, 0o10000) in (None, ctypes.c_void_p(-1).value):
    raise OSError(ctypes.get_errno(), 'shmat')`,
  ),
  byCalls(
    'asks about shared memory of others',
    'every level',
    `call(31, 195, probe['sharedMemory'], 2, ctypes.create_string_buffer(256))`,
  ),
  byProgram('makes shared memory by a program', 'every level', `ipcrm -m $(ipcmk -M 64 | grep -o "[0-9]*$")`),
  byCalls('makes semaphores', 'every level', `call(66, 191, call(64, 190, 0, 1, 0o600), 0, 0)`),
  byCalls('makes a queue of messages', 'every level', `call(71, 187, call(68, 186, 0, 0o600), 0, 0)`),
  byCalls(
    'makes a queue of messages with a name',
    'every level',
    `
name = b'isolation-%d' % os.getpid()
os.close(call(240, 180, name, os.O_CREAT | os.O_RDWR, 0o600, 0))
call(241, 181, name)`,
  ),
  reads('reads shared memory with a name', 'every level', '{probe.sharedFile}'),
  inBoth(
    'finds shared memory of others',
    'every level',
    `return fs.readdirSync('/dev/shm').includes(probe.directoryName)`,
    `return probe['directoryName'] in os.listdir('/dev/shm')`,
  ),
  opens('opens shared memory with a name to write to it', 'every level', 'r+', '{probe.sharedFile}'),
  inBoth(
    'connects to a socket among the files',
    'every level',
    `return connects(probe.socketPath)`,
    `connects(socket.AF_UNIX, probe['socketPath'])`,
  ),
  inBoth(
    'connects to a socket without a file',
    'every level',
    `return connects('\\0' + probe.abstractName)`,
    `connects(socket.AF_UNIX, '\\0' + probe['abstractName'])`,
  ),
  inBoth(
    'connects to the socket of the database',
    'every level',
    `return connects(probe.databaseSocket)`,
    `connects(socket.AF_UNIX, probe['databaseSocket'])`,
  ),
  inBoth(
    'connects to a socket that another process shows',
    'every level',
    `return connects('/proc/' + probe.pid + '/cwd/socket')`,
    `connects(socket.AF_UNIX, '/proc/%d/cwd/socket' % probe['pid'])`,
  ),
  byCalls(
    'sends to a socket among the files by one of a pair',
    'every level',
    `socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'?', probe['messagesPath'])`,
  ),
  byCalls(
    'sends to a socket without a file by one of a pair',
    'every level',
    `socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)[0].sendto(b'?', '\\0' + probe['messagesName'])`,
  ),
  inBoth(
    'reads that there are sockets of others',
    'own',
    `return fs.readFileSync('/proc/net/unix', 'latin1').includes(probe.abstractName)`,
    `return probe['abstractName'] in open('/proc/net/unix').read()`,
  ),
  inBoth(
    'reads that there is shared memory of others',
    'every level',
    `return fs.readFileSync('/proc/sysvipc/shm', 'latin1').includes(' ' + probe.sharedMemory + ' ')`,
    `return ' %d ' % probe['sharedMemory'] in open('/proc/sysvipc/shm').read()`,
  ),
  byCalls('adds a key', 'every level', `call(248, 217, b'user', b'isolation', b'x', 1, -2)`),
  byCalls('asks for a key', 'every level', `return is_heard(249, 218, b'user', b'isolation-none', 0, 0)`),
  byCalls('names the keys of its session', 'every level', `call(250, 219, 0, -4, 1)`),
  byCalls('makes a terminal', 'every level', `os.close(os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY))`),
  byCalls(
    'types into a terminal',
    'every level',
    `
terminal, other = os.openpty()
fcntl.ioctl(other, 0x5412, b'x')`,
    { control: 'root' },
  ),
  lists('lists the terminals', 'every level', '/dev/pts'),
]
