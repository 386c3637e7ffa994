import { writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createLogger } from '@automation/service'
import { readOptions, wholeNumber } from '@automation/testing/options'
import { KafkaBus } from '../../src/kafka/kafka-bus.ts'
import { openKafka } from '../../src/kafka/kafka-client.ts'
import { Cluster } from './cluster.ts'
import { LedgerOutbox, Ledger } from './ledger-outbox.ts'

const help = `npm run test:broker [-- OPTIONS]

Publishes events to a Kafka cluster of its own while its brokers are killed (SIGKILL) and started again one after the
other, and counts what a consumer hears: nothing may be lost, and those of each execution must come in order.

  --events N     100000
  --brokers N    3; 1 tests the restart of the only one
  --rate N       events written a second (10000)
  --report FILE  also write the counts as JSON
  --help
`
const options = readOptions(
  help,
  {
    events: { type: 'string', default: '100000' },
    brokers: { type: 'string', default: '3' },
    rate: { type: 'string', default: '10000' },
    report: { type: 'string' },
  },
  ({ events, brokers, rate, report }) => ({
    events: wholeNumber(events, 1),
    brokers: wholeNumber(brokers, 1),
    rate: wholeNumber(rate, 1),
    report,
  }),
)
const patienceMs = 120_000
const config = { clientId: 'broker-test', topic: 'broker-test', partitions: 12 }

await main()
// A client that was cut off may still try to reach its brokers.
process.exit()

async function main(): Promise<void> {
  const size = options.brokers
  const cluster = await Cluster.start(size)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cluster.remove().finally(() => process.exit(1)))
  try {
    const ok = await test(cluster, size)
    if (options.report !== undefined)
      await writeFile(options.report, JSON.stringify({ passed: Number(ok), failed: Number(!ok) }))
    process.exitCode = ok ? 0 : 1
  } finally {
    await cluster.remove()
  }
}

async function test(cluster: Cluster, size: number): Promise<boolean> {
  const logger = createLogger({ service: 'broker-test', level: (process.env['LOG_LEVEL'] ?? 'error') as 'error' })
  const outbox = new LedgerOutbox(options.events, options.rate)
  const ledger = new Ledger()
  const bus = new KafkaBus({ config: { ...config, brokers: cluster.brokers }, outbox, logger, lookMs: 20 })
  const startedAt = performance.now()
  bus.subscribe('ledger', ledger.hear)
  const faults = killInTurn(cluster, size, () => outbox.published / outbox.events.length)
  await untilHeard(outbox, ledger)
  const seconds = (performance.now() - startedAt) / 1000
  const kills = await faults
  const doubled = (await messagesOf(cluster)) - outbox.events.length + ledger.lost(outbox.events)
  await bus.close()
  const lost = ledger.lost(outbox.events)
  console.log(`brokers ${size}, killed ${kills} times, ${seconds.toFixed(1)} s`)
  console.log(
    `events sent ${outbox.events.length}, lost ${lost}, doubled ${doubled}, out of order ${ledger.outOfOrder}`,
  )
  console.log(`heard again by the consumer, those doubled included: ${ledger.again}`)
  return lost === 0 && ledger.outOfOrder === 0 && kills > 0
}

/** Kills a broker after each part of the events; the next one only after it is back. */
async function killInTurn(cluster: Cluster, size: number, share: () => number): Promise<number> {
  const marks = size === 1 ? [0.3] : [0.15, 0.5]
  for (const [index, mark] of marks.entries()) {
    while (share() < mark) await pause(10)
    const broker = (index % size) + 1
    await cluster.kill(broker)
    console.log(`killed broker ${broker} after ${Math.round(share() * 100)} % of the events`)
    await pause(2000)
    await cluster.revive(broker)
    console.log(`broker ${broker} is back at ${Math.round(share() * 100)} %`)
  }
  return marks.length
}

/** Returns when all was heard, or when nothing new comes any more. */
async function untilHeard(outbox: LedgerOutbox, ledger: Ledger): Promise<void> {
  let [last, since] = [-1, performance.now()]
  while (ledger.count < outbox.events.length && performance.now() - since < patienceMs) {
    if (ledger.count !== last) [last, since] = [ledger.count, performance.now()]
    await pause(50)
  }
}

/** How many messages the topic holds. */
async function messagesOf(cluster: Cluster): Promise<number> {
  const kafka = await openKafka(
    { ...config, brokers: cluster.brokers },
    createLogger({ service: 'broker-test', level: 'silent' }),
  )
  const admin = kafka.admin()
  await admin.connect()
  const offsets = await admin.fetchTopicOffsets(config.topic)
  await admin.disconnect()
  return offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0)
}
