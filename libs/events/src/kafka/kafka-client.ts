import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Logger } from '@automation/service'
import type { ISocketFactory, Kafka, KafkaConfig as ClientConfig, LogEntry } from 'kafkajs'
import type { KafkaConfig } from './kafka-config.ts'

/** Without an end: with limited retries an idempotent producer loses what was acknowledged. Pauses of 100 ms to 1 s. */
export const retry = { retries: Number.MAX_SAFE_INTEGER, initialRetryTime: 100, maxRetryTime: 1000 }

/** How a connection is made; another one puts faults in between. */
export type Connect = ISocketFactory

const complainEveryMs = 60_000

/** A client that tries for ever. What it complains of is in the log once a minute, and all that it says as DEBUG. */
export async function openKafka(config: KafkaConfig, logger: Logger, socketFactory: Connect = plainly): Promise<Kafka> {
  // Imported here, so that nobody else pays for it.
  const { Kafka, logLevel } = (await import('kafkajs')).default
  const { brokers, clientId, tls, sasl } = config
  return new Kafka({
    brokers,
    clientId,
    ssl: tls === undefined ? undefined : { ca: tls.ca, cert: tls.cert, key: tls.key },
    sasl: sasl as ClientConfig['sasl'],
    retry,
    socketFactory,
    connectionTimeout: 3000,
    // A broker that has vanished without a word is given up after this; the default is twice as long.
    requestTimeout: 15_000,
    logLevel: logLevel.INFO,
    logCreator: () => logTo(logger),
  })
}

function logTo(logger: Logger): (entry: LogEntry) => void {
  let complainedAt = -complainEveryMs
  return (entry) => {
    // Brokers that are not reached or do not let us in; answers that say no are for whoever has asked.
    const isComplaint = entry.label === 'ERROR' && entry.namespace === 'BrokerPool'
    if (isComplaint && performance.now() - complainedAt > complainEveryMs) {
      complainedAt = performance.now()
      logger.warn(fieldsOf(entry), `Kafka client: ${entry.log.message}`)
    } else logger.debug(fieldsOf(entry), entry.log.message)
  }
}

function fieldsOf({ namespace, log }: LogEntry): object {
  const { groupId, broker, retryCount } = log
  return { kafka: namespace, groupId, broker, retryCount }
}

const plainly: Connect = ({ host, port, ssl, onConnect }) => {
  const socket =
    (ssl as unknown) === undefined || (ssl as unknown) === null
      ? connect({ host, port }, onConnect)
      : connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
  socket.setKeepAlive(true, 30_000)
  // The client waits for the connection once for each request of its queue.
  socket.setMaxListeners(0)
  return socket
}
