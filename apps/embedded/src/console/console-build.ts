import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Logger } from '@automation/service'
import { builtDigest, sourcesDigest } from './sources-digest.ts'

const program = fileURLToPath(new URL('build.ts', import.meta.url))
const lifeline = new URL('../end-with-parent.ts', import.meta.url).href

const endWithinMs = 2000

/** A build that may be going on. */
interface ConsoleBuild {
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>
}

/**
 * Builds the console where its sources have changed since it was built, as a process beside this one. Nobody waits for
 * it: pages say that it is being built. What comes of it is logged in one line.
 */
export function buildConsole(logger: Logger): ConsoleBuild {
  const stopping = new AbortController()
  const building = buildWhereStale(logger, stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) logger.error({ err: error }, 'the console could not be built')
  })
  return {
    stop: async () => {
      stopping.abort()
      await building
    },
  }
}

async function buildWhereStale(logger: Logger, signal: AbortSignal): Promise<void> {
  if ((await sourcesDigest()) === (await builtDigest()) || signal.aborted) return
  // It needs nothing that the service knows.
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, ['--import', lifeline, program], {
    env: { PATH, HOME },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const end = () => {
    child.kill()
    setTimeout(() => child.kill('SIGKILL'), endWithinMs).unref()
  }
  signal.addEventListener('abort', end, { once: true })
  const exited = new Promise<string>((resolve, reject) => {
    child.once('error', reject).once('close', (code, signalName) => resolve(String(code ?? signalName)))
  })
  const [printed, faults, how] = await Promise.all([textOf(child.stdout), textOf(child.stderr), exited])
  if (signal.aborted) return
  if (how !== '0') throw new Error(`the build ended with ${how}: ${faults.trim().slice(-2000)}`)
  if (printed !== '') logger.info({ ms: Number(printed) }, 'the console is built')
}

function textOf(stream: Readable | null): Promise<string> {
  return stream === null ? Promise.resolve('') : text(stream)
}
