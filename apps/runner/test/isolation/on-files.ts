import { existsSync } from 'node:fs'
import { inBoth, lists, opens, reads, whoMayWrite, type Attempt } from './attempt.ts'

const climbs = `'../'.repeat(32) + bait.secretFile.slice(1)`
const climbsInPython = `'../' * 32 + bait['secretFile'][1:]`

/** Files of the service, of other teams and of the machine. */
export const attemptsOnFiles: Attempt[] = [
  reads('reads a file of the service', 'every level', '{bait.secretFile}'),
  opens('opens the key of the runner', 'every level', 'r', '{bait.runnerKeyFile}'),
  reads('reads a file of DATA_DIR', 'every level', '{bait.dataDirectory}/secret'),
  reads('reads it by a link that lies there', 'every level', '{bait.directory}/link'),
  inBoth(
    'reads it by a symbolic link in its private directory',
    'every level',
    `fs.symlinkSync(bait.secretFile, 'a-link'); return read('a-link')`,
    `os.symlink(bait['secretFile'], 'a-link')\nreturn read('a-link')`,
  ),
  inBoth(
    'reads it by a hard link in its private directory',
    'every level',
    `fs.linkSync(bait.secretFile, 'hard-link'); return read('hard-link')`,
    `os.link(bait['secretFile'], 'hard-link')\nreturn read('hard-link')`,
  ),
  inBoth('reads it by climbing', 'every level', `return read(${climbs})`, `return read(${climbsInPython})`),
  inBoth(
    'reads it by climbing from its working directory in /proc',
    'every level',
    `return read('/proc/self/cwd/' + ${climbs})`,
    `return read('/proc/self/cwd/' + ${climbsInPython})`,
  ),
  reads('reads it by its own root in /proc', 'every level', '/proc/self/root{bait.secretFile}'),
  reads('reads it by the root of the first process', 'every level', '/proc/1/root{bait.secretFile}', {
    control: ({ secretFile }) => existsSync(`/proc/1/root${secretFile}`),
  }),
  reads('reads it by the root of another process', 'every level', '/proc/{bait.pid}/root{bait.secretFile}'),
  reads('reads it by the working directory of another process', 'every level', '/proc/{bait.pid}/cwd/secret'),
  inBoth(
    'reads it by the root of its parent',
    'every level',
    `return read('/proc/' + process.ppid + '/root' + bait.secretFile)`,
    `return any_of(pids(), lambda pid: read('/proc/' + pid + '/root' + bait['secretFile']))`,
  ),
  inBoth(
    'has a child program read it',
    'every level',
    `return shell('cat ' + bait.secretFile).includes(bait.mark)`,
    `shell('grep -q ' + bait['mark'] + ' ' + bait['secretFile'])`,
  ),
  lists('lists a directory of the service', 'every level', '{bait.directory}'),
  lists('lists DATA_DIR', 'every level', '{bait.dataDirectory}'),
  inBoth(
    'sees the directories of others beside its own',
    'every level',
    `return fs.readdirSync(path.dirname(bait.directory)).includes(bait.directoryName)`,
    `return bait['directoryName'] in os.listdir(os.path.dirname(bait['directory']))`,
  ),
  inBoth(
    'sees that a file of the service is there',
    'namespaces',
    `fs.statSync(bait.secretFile)`,
    `os.stat(bait['secretFile'])`,
  ),
  inBoth(
    'goes into a directory of the service',
    'namespaces',
    `shell('cd ' + bait.directory)`,
    `apart(lambda: os.chdir(bait['directory']))`,
  ),
  inBoth(
    'makes a file among those of the service',
    'every level',
    `fs.writeFileSync(bait.directory + '/written-js', 'x')`,
    `open(bait['directory'] + '/written-py', 'w').close()`,
  ),
  opens('opens a file of the service to add to it', 'every level', 'a', '{bait.secretFile}'),
  inBoth(
    'cuts a file of the service',
    'every level',
    `fs.truncateSync(bait.directory + '/spare', 4)`,
    `os.truncate(bait['directory'] + '/spare', 4)`,
  ),
  inBoth(
    'renames a file of the service',
    'every level',
    `fs.renameSync(bait.directory + '/spare', bait.directory + '/spare-2'); fs.renameSync(bait.directory + '/spare-2', bait.directory + '/spare')`,
    `os.rename(bait['directory'] + '/spare', bait['directory'] + '/spare-3')\nos.rename(bait['directory'] + '/spare-3', bait['directory'] + '/spare')`,
  ),
  inBoth(
    'removes a file of the service',
    'every level',
    `fs.symlinkSync('x', bait.directory + '/gone-js'); fs.unlinkSync(bait.directory + '/gone-js')`,
    `os.symlink('x', bait['directory'] + '/gone-py')\nos.unlink(bait['directory'] + '/gone-py')`,
  ),
  inBoth(
    'changes the rights of a file of the service',
    'namespaces',
    `fs.chmodSync(bait.secretFile, 0o666)`,
    `os.chmod(bait['secretFile'], 0o666)`,
  ),
  inBoth(
    'makes a directory among those of the service',
    'every level',
    `fs.mkdirSync(bait.directory + '/made-js')`,
    `os.mkdir(bait['directory'] + '/made-py')`,
  ),
  inBoth(
    'makes a pipe among the files of the service',
    'every level',
    `shell('mkfifo ' + bait.directory + '/pipe-js')`,
    `os.mkfifo(bait['directory'] + '/pipe-py')`,
  ),
  inBoth(
    'makes a socket among the files of the service',
    'every level',
    `const server = net.createServer(); await new Promise((resolve, reject) => server.on('error', reject).listen(bait.directory + '/socket-js', resolve)); server.close()`,
    `socket.socket(socket.AF_UNIX).bind(bait['directory'] + '/socket-py')`,
  ),
  inBoth(
    'moves a file of its own among those of the service',
    'every level',
    `fs.writeFileSync(os.tmpdir() + '/mine-js', 'x'); fs.renameSync(os.tmpdir() + '/mine-js', bait.directory + '/moved-js')`,
    `open('/tmp/mine-py', 'w').close()\nos.rename('/tmp/mine-py', bait['directory'] + '/moved-py')`,
  ),
  opens('reads the source of the service', 'every level', 'r', '{bait.runnerPath}/src/main.ts'),
  opens('reads the launcher', 'every level', 'r', '{bait.jailPath}/launcher/launcher.py'),
  opens(
    'opens the program of children to write to it',
    'every level',
    'r+',
    '{bait.runnerPath}/children/python/main.py',
    {
      control: whoMayWrite(({ runnerPath }) => `${runnerPath}/children/python/main.py`),
    },
  ),
  opens('opens a library of the system to write to it', 'every level', 'a', '/usr/bin/env', {
    control: whoMayWrite(() => '/usr/bin/env'),
  }),
  opens('opens the accounts of the machine to write to them', 'every level', 'r+', '/etc/passwd', { control: 'root' }),
  opens('reads the passwords of the machine', 'every level', 'r', '/etc/shadow', { control: 'root' }),
  lists('lists what services log', 'every level', '/var/log'),
  lists('lists what services keep', 'every level', '/var/lib'),
  inBoth(
    'makes a device in its private directory',
    'namespaces',
    `shell('mknod device-js c 1 1 && rm device-js')`,
    `os.mknod('device-py', 0o600 | stat.S_IFCHR, os.makedev(1, 1))`,
    { control: 'root' },
  ),
]
