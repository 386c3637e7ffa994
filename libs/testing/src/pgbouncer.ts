import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from './free-ports.ts'
import { until } from './until.ts'

export interface PgBouncer {
  /** Of the database that it was started for, through the pooler. */
  url: string
  stop(): Promise<void>
}

/** Where Debian has it. */
const program = '/usr/sbin/pgbouncer'

export const hasPgBouncer: boolean = await access(program).then(
  () => true,
  () => false,
)

/** Starts PgBouncer in transaction mode before a database, with so many connections to it in all. */
export async function startPgBouncer(databaseUrl: string, connections: number): Promise<PgBouncer> {
  const [port] = await freePorts(1)
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'))
  const target = new URL(databaseUrl)
  const name = target.pathname.slice(1)
  const [user, password] = [target.username, target.password].map(decodeURIComponent)
  // Over TCP: whom it runs as may not enter the folder of a socket.
  const host = target.hostname || '127.0.0.1'
  await writeFile(join(folder, 'users'), `"${user}" "${password}"\n`)
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
${name} = host=${host} port=${target.port || 5432} user=${user} password='${password}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder, 'users')}
pool_mode = transaction
default_pool_size = ${connections}
max_db_connections = ${connections}
max_client_conn = 500
server_connect_timeout = 5
`,
  )
  // It refuses root.
  const asOther = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  await chmod(folder, 0o755)
  const child = spawn(program, ['-q', join(folder, 'pgbouncer.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...asOther,
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)))
  const ended = once(child, 'close')
  await until(async () => child.exitCode !== null || (await isOpen(port!)), { everyMs: 20 })
  if (child.exitCode !== null) throw new Error(`PgBouncer has not started: ${said}`)
  const url = `postgres://${target.username}:${target.password}@127.0.0.1:${port}/${name}?pgbouncer=true`
  return {
    url,
    async stop() {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
