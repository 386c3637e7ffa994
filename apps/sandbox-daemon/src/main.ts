import { constants } from 'node:os'
import { inspect } from 'node:util'
import { listenFrom, readKeyDigest } from './config.ts'
import { startDaemon } from './daemon.ts'

const graceMs = 2000

const log = (level: string) => (fields: object, text: string) => {
  const { err, ...others } = fields as { err?: unknown }
  console.error(
    JSON.stringify({ level, time: Date.now(), ...others, ...(err !== undefined && { err: inspect(err) }), text }),
  )
}
const logger = { error: log('error'), warn: log('warn'), info: log('info') }

try {
  const listen = listenFrom(process.env['DAEMON_LISTEN'])
  if (process.env['DAEMON_REHEARSES'] === 'yes') await rehearsed()
  const daemonKeyDigest = await readKeyDigest(process.env['DAEMON_KEY_SHA256'])
  const daemon = await startDaemon({ listen, daemonKeyDigest, logger })
  // Not 0: a kubelet takes a container that ends so for done, and forgets why it evicted the pod.
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => void daemon.stop(graceMs).finally(() => process.exit(128 + constants.signals[signal])))
  // One line when it answers, with the port where one was asked for.
  console.log(JSON.stringify({ ready: true, port: daemon.port }))
} catch (error) {
  console.error(`sandbox-daemon: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(2)
}

/** Without it, only the first calls take longer. */
async function rehearsed(): Promise<void> {
  try {
    const { rehearse } = await import('./rehearsal.ts')
    await rehearse(logger)
  } catch (error) {
    logger.warn({ err: error }, 'the rehearsal failed')
  }
}
