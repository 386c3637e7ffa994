import { pathToFileURL } from 'node:url'

/**
 * graphile-worker in a process of its own: `drain COUNT default|batched` prints the seconds that COUNT queued no-ops
 * took, `latency COUNT GAP_MS` the ms from each add_job to the first line of its task. Every job is counted.
 */
interface Utils {
  migrate(): Promise<void>
  addJob(task: string, payload: object): Promise<unknown>
  addJobs(jobs: object[]): Promise<unknown>
  release(): Promise<void>
}
type TaskList = Record<string, (payload: { index: number }) => Promise<void>>
interface Library {
  makeWorkerUtils(options: object): Promise<Utils>
  runOnce(options: object): Promise<void>
  run(options: object): Promise<{ stop(): Promise<void> }>
  Logger: new (factory: () => () => void) => object
}

const library = (await import(pathToFileURL(process.env['GRAPHILE'] ?? '').href)) as Library
const logger = new library.Logger(() => () => undefined)
const connectionString = process.env['DATABASE_URL']
const utils = await library.makeWorkerUtils({ connectionString, logger })
await utils.migrate()

const [mode, countText, how] = process.argv.slice(2)
const count = Number(countText)
const result = mode === 'drain' ? await drain(how === 'batched') : await latencies(Number(how))
await utils.release()
process.stdout.write(JSON.stringify(result))

async function drain(batched: boolean): Promise<{ seconds: number }> {
  const batching = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }
  const worker = { connectionString, concurrentJobs: 24, maxPoolSize: 25, ...(batched ? batching : {}) }
  const drainOf = async (jobs: number): Promise<number> => {
    const runs = new Uint8Array(jobs)
    await utils.addJobs(Array.from({ length: jobs }, (_, index) => ({ identifier: 'noop', payload: { index } })))
    const taskList: TaskList = {
      noop: async ({ index }) => {
        runs[index] = (runs[index] ?? 0) + 1
      },
    }
    const startedAt = performance.now()
    await library.runOnce({ preset: { worker }, taskList, logger })
    const seconds = (performance.now() - startedAt) / 1000
    if (!runs.every((times) => times === 1)) throw new Error('a job did not run exactly once')
    return seconds
  }
  await drainOf(Math.ceil(count / 5))
  return { seconds: await drainOf(count) }
}

async function latencies(gapMs: number): Promise<{ latenciesMs: number[] }> {
  const latenciesMs: number[] = []
  let arrived: () => void = () => undefined
  let sentAt = 0
  const taskList: TaskList = {
    noop: async () => {
      latenciesMs.push(performance.now() - sentAt)
      arrived()
    },
  }
  const runner = await library.run({ preset: { worker: { connectionString, concurrentJobs: 4 } }, taskList, logger })
  for (let index = 0; index < count + 20; index += 1) {
    const first = new Promise<void>((resolve) => (arrived = resolve))
    sentAt = performance.now()
    await utils.addJob('noop', { index })
    await first
    await new Promise((resolve) => setTimeout(resolve, gapMs))
  }
  await runner.stop()
  return { latenciesMs: latenciesMs.slice(20) }
}
