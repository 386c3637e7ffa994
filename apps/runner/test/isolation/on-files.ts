import { existsSync } from 'node:fs'
import { inBoth, lists, opens, reads, whoMayWrite, type Attempt } from './attempt.ts'

const climbs = `'../'.repeat(32) + probe.secretFile.slice(1)`
const climbsInPython = `'../' * 32 + probe['secretFile'][1:]`

/** Files of the service, of other teams and of the machine. */
export const attemptsOnFiles: Attempt[] = [
  reads('reads a file of the service', 'every level', '{probe.secretFile}'),
  opens('opens the key of the runner', 'every level', 'r', '{probe.runnerKeyFile}'),
  reads('reads a file of DATA_DIR', 'every level', '{probe.dataDirectory}/secret'),
  reads('reads it by a link that lies there', 'every level', '{probe.directory}/link'),
  inBoth(
    'reads it by a symbolic link in its private directory',
    'every level',
    `fs.symlinkSync(probe.secretFile, 'a-link'); return read('a-link')`,
    `os.symlink(probe['secretFile'], 'a-link')\nreturn read('a-link')`,
  ),
  inBoth(
    'reads it by a hard link in its private directory',
    'every level',
    `fs.linkSync(probe.secretFile, 'hard-link'); return read('hard-link')`,
    `os.link(probe['secretFile'], 'hard-link')\nreturn read('hard-link')`,
  ),
  inBoth('reads it by climbing', 'every level', `return read(${climbs})`, `return read(${climbsInPython})`),
  inBoth(
    'reads it by climbing from its working directory in /proc',
    'every level',
    `return read('/proc/self/cwd/' + ${climbs})`,
    `return read('/proc/self/cwd/' + ${climbsInPython})`,
  ),
  reads('reads it by its own root in /proc', 'every level', '/proc/self/root{probe.secretFile}'),
  reads('reads it by the root of the first process', 'every level', '/proc/1/root{probe.secretFile}', {
    control: ({ secretFile }) => existsSync(`/proc/1/root${secretFile}`),
  }),
  reads('reads it by the root of another process', 'every level', '/proc/{probe.pid}/root{probe.secretFile}'),
  reads('reads it by the working directory of another process', 'every level', '/proc/{probe.pid}/cwd/secret'),
  inBoth(
    'reads it by the root of its parent',
    'every level',
    `return read('/proc/' + process.ppid + '/root' + probe.secretFile)`,
    `return any_of(pids(), lambda pid: read('/proc/' + pid + '/root' + probe['secretFile']))`,
  ),
  inBoth(
    'has a child program read it',
    'every level',
    `return shell('cat ' + probe.secretFile).includes(probe.mark)`,
    `shell('grep -q ' + probe['mark'] + ' ' + probe['secretFile'])`,
  ),
  lists('lists a directory of the service', 'every level', '{probe.directory}'),
  lists('lists DATA_DIR', 'every level', '{probe.dataDirectory}'),
  inBoth(
    'sees the directories of others beside its own',
    'every level',
    `return fs.readdirSync(path.dirname(probe.directory)).includes(probe.directoryName)`,
    `return probe['directoryName'] in os.listdir(os.path.dirname(probe['directory']))`,
  ),
  inBoth(
    'sees that a file of the service is there',
    'namespaces',
    `fs.statSync(probe.secretFile)`,
    `os.stat(probe['secretFile'])`,
  ),
  inBoth(
    'goes into a directory of the service',
    'namespaces',
    `shell('cd ' + probe.directory)`,
    `apart(lambda: os.chdir(probe['directory']))`,
  ),
  inBoth(
    'makes a file among those of the service',
    'every level',
    `fs.writeFileSync(probe.directory + '/written-js', 'x')`,
    `open(probe['directory'] + '/written-py', 'w').close()`,
  ),
  opens('opens a file of the service to add to it', 'every level', 'a', '{probe.secretFile}'),
  inBoth(
    'cuts a file of the service',
    'every level',
    `fs.truncateSync(probe.directory + '/spare', 4)`,
    `os.truncate(probe['directory'] + '/spare', 4)`,
  ),
  inBoth(
    'renames a file of the service',
    'every level',
    `fs.renameSync(probe.directory + '/spare', probe.directory + '/spare-2'); fs.renameSync(probe.directory + '/spare-2', probe.directory + '/spare')`,
    `os.rename(probe['directory'] + '/spare', probe['directory'] + '/spare-3')\nos.rename(probe['directory'] + '/spare-3', probe['directory'] + '/spare')`,
  ),
  inBoth(
    'removes a file of the service',
    'every level',
    `fs.symlinkSync('x', probe.directory + '/gone-js'); fs.unlinkSync(probe.directory + '/gone-js')`,
    `os.symlink('x', probe['directory'] + '/gone-py')\nos.unlink(probe['directory'] + '/gone-py')`,
  ),
  inBoth(
    'changes the rights of a file of the service',
    'namespaces',
    `fs.chmodSync(probe.secretFile, 0o666)`,
    `os.chmod(probe['secretFile'], 0o666)`,
  ),
  inBoth(
    'makes a directory among those of the service',
    'every level',
    `fs.mkdirSync(probe.directory + '/made-js')`,
    `os.mkdir(probe['directory'] + '/made-py')`,
  ),
  inBoth(
    'makes a pipe among the files of the service',
    'every level',
    `shell('mkfifo ' + probe.directory + '/pipe-js')`,
    `os.mkfifo(probe['directory'] + '/pipe-py')`,
  ),
  inBoth(
    'makes a socket among the files of the service',
    'every level',
    `const server = net.createServer(); await new Promise((resolve, reject) => server.on('error', reject).listen(probe.directory + '/socket-js', resolve)); server.close()`,
    `socket.socket(socket.AF_UNIX).bind(probe['directory'] + '/socket-py')`,
  ),
  inBoth(
    'moves a file of its own among those of the service',
    'every level',
    `fs.writeFileSync(os.tmpdir() + '/mine-js', 'x'); fs.renameSync(os.tmpdir() + '/mine-js', probe.directory + '/moved-js')`,
    `open('/tmp/mine-py', 'w').close()\nos.rename('/tmp/mine-py', probe['directory'] + '/moved-py')`,
  ),
  opens('reads the source of the service', 'every level', 'r', '{probe.runnerPath}/src/main.ts'),
  opens('reads the launcher', 'every level', 'r', '{probe.jailPath}/launcher/launcher.py'),
  opens(
    'opens the program of children to write to it',
    'every level',
    'r+',
    '{probe.runnerPath}/children/python/main.py',
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
