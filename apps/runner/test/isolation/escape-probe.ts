import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { jailPythonPath } from '@automation/jail'

/** What surrounds a jail: things that belong to the machine, the service or another team. */
export type EscapeProbe = Awaited<ReturnType<typeof openProbe>>['probe']

const runnerPath = fileURLToPath(new URL('../..', import.meta.url))
const jailPath = dirname(jailPythonPath)

/** Lays out what process code must not reach. What it could steal says `mark`. */
export async function openProbe() {
  const mark = `mark-${randomBytes(12).toString('hex')}`
  const directory = mkdtempSync(join(tmpdir(), 'isolation-'))
  // As DATA_DIR lies elsewhere than private directories.
  const dataDirectory = mkdtempSync('/var/tmp/isolation-')
  // Rights of files are not what is tested: anybody may read and write here.
  for (const each of [directory, dataDirectory]) chmodSync(each, 0o777)
  const secretFile = join(directory, 'secret')
  const ownKeyFile = join(dataDirectory, 'runner-key')
  // In a pod it is a mounted Secret.
  const runnerKeyFile = process.env['RUNNER_KEY_FILE'] ?? ownKeyFile
  for (const file of [secretFile, ownKeyFile, join(dataDirectory, 'secret'), join(directory, 'spare')])
    writeFileSync(file, mark, { mode: 0o666 })
  symlinkSync(secretFile, join(directory, 'link'))
  const sharedFile = `/dev/shm/${basename(directory)}`
  writeFileSync(sharedFile, mark, { mode: 0o666 })
  const victim = spawn('sleep', ['1000'], {
    argv0: mark,
    cwd: directory,
    env: { SECRET: mark },
    stdio: [openSync(secretFile, 'r'), 'ignore', 'ignore'],
  })
  const abstractName = `isolation-${process.pid}-${victim.pid}`
  const socketPath = join(directory, 'socket')
  const databaseSocket = join(directory, '.s.PGSQL.5432')
  const messages = await takingMessages(join(directory, 'messages'), `${abstractName}-messages`)
  const services = await Promise.all(['gateway', 'execution', 'health', 'database'].map(() => listening({ port: 0 })))
  const other = await listening({ port: 0 })
  const sockets = await Promise.all(
    [socketPath, databaseSocket, `\0${abstractName}`].map((path) => listening({ path })),
  )
  const [gatewayPort, executionPort, healthPort, databasePort] = services.map(portOf) as [
    number,
    number,
    number,
    number,
  ]
  const udp = createSocket('udp4').on('message', (_, { port, address }) => udp.send(mark, port, address))
  await new Promise<void>((resolve) => udp.bind(0, resolve))
  const sharedMemory = Number(
    execFileSync('ipcmk', ['-M', '64', '-p', '0666'])
      .toString()
      .match(/\d+\s*$/)?.[0],
  )
  return {
    probe: {
      mark,
      directory,
      dataDirectory,
      directoryName: basename(directory),
      secretFile,
      runnerKeyFile,
      sharedFile,
      runnerPath,
      jailPath,
      pid: victim.pid!,
      runnerPid: process.pid,
      gatewayPort,
      executionPort,
      healthPort,
      databasePort,
      /** Of the four above. */
      servicePorts: services.map(portOf),
      databaseSocket,
      otherPort: portOf(other),
      udpPort: udp.address().port,
      socketPath,
      abstractName,
      messagesPath: join(directory, 'messages'),
      messagesName: `${abstractName}-messages`,
      sharedMemory,
      hostAddress: ownAddress(),
      hostName: readFileSync('/proc/sys/kernel/hostname', 'utf8').trim(),
    },
    remove() {
      victim.kill('SIGKILL')
      messages.kill('SIGKILL')
      udp.close()
      for (const server of [...services, other, ...sockets]) server.close()
      execFileSync('ipcrm', ['-m', String(sharedMemory)])
      for (const each of [directory, dataDirectory, sharedFile]) rmSync(each, { recursive: true, force: true })
    },
  }
}

/** An address of this machine beside its loopback; that where there is no other. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
}

function listening(where: { port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).destroy())
  return new Promise((resolve, reject) => server.once('error', reject).listen(where, () => resolve(server)))
}

/** Unix sockets for messages, which Node has not: one among the files, one without. */
async function takingMessages(path: string, name: string): Promise<ChildProcess> {
  const program = `
import os, socket, sys
held = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
held[0].bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
held[1].bind("\\0" + sys.argv[2])
print("bound", flush=True)
while True:
    held[0].recv(1)`
  const process = spawn('python3', ['-c', program, path, name], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(process.stdout, 'data')
  return process
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
