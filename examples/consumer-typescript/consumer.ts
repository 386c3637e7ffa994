// Prints a line for each change of an execution's status, each once.
//
//   npm install
//   KAFKA_BROKERS=localhost:9092 npm start
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import kafkajs, { type EachMessagePayload } from 'kafkajs'
import protobuf from 'protobufjs'

const topic = process.env['KAFKA_TOPIC'] ?? 'process-automation.executions'
const brokers = (process.env['KAFKA_BROKERS'] ?? 'localhost:9092').split(',')
const groupId = process.env['KAFKA_GROUP'] ?? 'consumer-typescript'

// The contract: a copy of the folder `proto` of the service's repository does as well.
const protos = process.env['PROTO_DIR'] ?? fileURLToPath(new URL('../../proto', import.meta.url))
const root = new protobuf.Root()
root.resolvePath = (_origin, target) => (target.startsWith('google/protobuf/') ? target : `${protos}/${target}`)
await root.load('automation/events/v1/execution_event.proto', { keepCase: false })
const ExecutionEvent = root.lookupType('automation.events.v1.ExecutionEvent')

interface Change {
  executionId: string
  team: string
  processId: string
  sequence: number
  status: string
}

const kafka = new kafkajs.Kafka({
  clientId: groupId,
  brokers,
  // Tries for as long as it takes: a cluster may be away for a while.
  retry: { retries: Number.MAX_SAFE_INTEGER, initialRetryTime: 100, maxRetryTime: 1000 },
})
const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 })

// Events come at least once and, repetitions left out, in order for each execution. This set forgets when the process
// ends: where an effect must not happen twice, store the event's id together with the effect, under a unique key.
const seen = new Set<string>()

async function handle({ message }: EachMessagePayload): Promise<void> {
  const attribute = (name: string) => message.headers?.[`ce_${name}`]?.toString()
  const id = attribute('id')
  if (id === undefined || message.value === null || !attribute('type')?.startsWith('automation.execution.')) return
  if (seen.has(id)) return
  const decoded = ExecutionEvent.decode(message.value)
  const change = ExecutionEvent.toObject(decoded, { enums: String }) as Change
  console.log(`${attribute('time')} ${change.team} ${change.executionId} ${change.sequence} ${change.status}`)
  seen.add(id)
  if (seen.size > 100_000) seen.delete(seen.values().next().value!)
}

await consumer.connect()
await consumer.subscribe({ topics: [topic], fromBeginning: true })
await consumer.run({
  eachMessage: async (payload) => {
    for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 10_000)) {
      try {
        return await handle(payload)
      } catch (error) {
        // Caught here, whatever it is: some kinds of errors stop this client for good.
        console.error('trying again:', error)
        await payload.heartbeat()
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
  },
})
consumer.on(consumer.events.CRASH, ({ payload }) => {
  if (payload.restart) return
  console.error('the consumer has stopped:', payload.error)
  process.exit(1)
})
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
await consumer.disconnect()
process.exit(0)
