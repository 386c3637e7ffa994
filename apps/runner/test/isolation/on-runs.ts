import { inBoth, type Attempt } from './attempt.ts'

/** Things of another run on the same runner; `probe` is its mark and where its things are. */
export const attemptsOnRuns: Attempt[] = [
  inBoth(
    'reads a file of the other run',
    'every level',
    `return read(probe.directory + '/secret')`,
    `return read(probe['directory'] + '/secret')`,
  ),
  inBoth(
    'finds a file of the other run beside its own directory',
    'every level',
    `const above = path.dirname(path.dirname(process.env.TMP_DATA_DIR))
     const within = (directory) => anyOf(fs.readdirSync(directory), (name) => read(path.join(directory, name, 'secret')))
     return anyOf(fs.readdirSync(above), (name) => within(path.join(above, name)))`,
    `
above = os.path.dirname(os.environ['TMP_DATA_DIR'])
return any_of(glob.glob(above + '/*/secret') + glob.glob(above + '/../*/secret') + glob.glob(above + '/../*/*/secret'), read)`,
    { control: ({ directory }) => !/^\/tmp\/?$/.test(directory) },
  ),
  inBoth(
    'finds shared memory of the other run',
    'every level',
    `return anyOf(fs.readdirSync('/dev/shm'), (name) => read('/dev/shm/' + name))`,
    `return any_of(glob.glob('/dev/shm/*'), read)`,
  ),
  inBoth(
    'finds the environment of the other run',
    'every level',
    `return anyOf(pids(), (pid) => read('/proc/' + pid + '/environ'))`,
    `return any_of(pids(), lambda pid: read('/proc/' + pid + '/environ'))`,
  ),
  inBoth(
    'finds its files by the working directories of all processes',
    'every level',
    `return anyOf(pids(), (pid) => read('/proc/' + pid + '/cwd/secret'))`,
    `return any_of(pids(), lambda pid: read('/proc/' + pid + '/cwd/secret'))`,
  ),
  inBoth(
    'finds its files by the roots of all processes',
    'every level',
    `return anyOf(pids(), (pid) => read('/proc/' + pid + '/root' + probe.directory + '/secret'))`,
    `return any_of(pids(), lambda pid: read('/proc/' + pid + '/root' + probe['directory'] + '/secret'))`,
  ),
  inBoth(
    'connects to a socket of the other run',
    'every level',
    `return connects('\\0' + probe.abstractName)`,
    `connects(socket.AF_UNIX, '\\0' + probe['abstractName'])`,
  ),
  inBoth(
    'connects to a port of the other run',
    'own',
    `return connects({ port: probe.port, host: '127.0.0.1' })`,
    `connects(socket.AF_INET, ('127.0.0.1', probe['port']))`,
  ),
]
