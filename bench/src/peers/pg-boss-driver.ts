import { pathToFileURL } from 'node:url'

/**
 * pg-boss in a process of its own: prints the seconds that COUNT queued no-ops took. Its own `work` looks for jobs at
 * most twice a second, so the loops around its `fetch` and `complete` are made here; each fetch looks through the whole
 * queue, so it takes many jobs at once. Every job is counted.
 */
interface Boss {
  start(): Promise<unknown>
  stop(options: object): Promise<void>
  createQueue(name: string): Promise<void>
  insert(jobs: object[]): Promise<void>
  fetch(name: string, options: object): Promise<{ id: string; data: { index: number } }[]>
  complete(name: string, id: string, output: object): Promise<void>
  on(event: 'error', listener: (error: Error) => void): void
}

const { default: PgBoss } = (await import(pathToFileURL(process.env['PG_BOSS'] ?? '').href)) as {
  default: new (options: object) => Boss
}
const workers = 4
const batchSize = 50
const boss = new PgBoss({ connectionString: process.env['DATABASE_URL'], max: 25 })
boss.on('error', (error) => {
  throw error
})
await boss.start()
const count = Number(process.argv[2])
await drain('warm-up', Math.ceil(count / 5))
const seconds = await drain('noops', count)
await boss.stop({ graceful: false })
process.stdout.write(JSON.stringify({ seconds }))

async function drain(name: string, jobs: number): Promise<number> {
  await boss.createQueue(name)
  for (let from = 0; from < jobs; from += 1000) {
    const some = Array.from({ length: Math.min(1000, jobs - from) }, (_, index) => ({
      name,
      data: { index: from + index },
    }))
    await boss.insert(some)
  }
  const runs = new Uint8Array(jobs)
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: workers }, () => work(name, runs)))
  const tookS = (performance.now() - startedAt) / 1000
  if (!runs.every((times) => times === 1)) throw new Error('a job did not run exactly once')
  return tookS
}

async function work(name: string, runs: Uint8Array): Promise<void> {
  for (;;) {
    const batch = await boss.fetch(name, { batchSize })
    if (batch.length === 0) return
    for (const { data } of batch) runs[data.index] = (runs[data.index] ?? 0) + 1
    await Promise.all(batch.map(({ id }) => boss.complete(name, id, { n: 42 })))
  }
}
