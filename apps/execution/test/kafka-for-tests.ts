import { connect, type Socket } from 'node:net'
import type { Connect, KafkaConfig } from '@automation/events'

/** Empty where there is no Kafka to test with. */
export const brokers = process.env['KAFKA_BROKERS']?.split(',') ?? []
let topics = 0

/** A topic of its own. */
export function kafka(): KafkaConfig {
  const topic = `test-${process.pid}-${Date.now()}-${++topics}`
  return { brokers, clientId: 'tests', topic, partitions: 3 }
}

/** Connections that can be cut, so that Kafka is away for one system only. */
export class Line {
  readonly #sockets = new Set<Socket>()
  #cut: boolean

  constructor(cut: boolean) {
    this.#cut = cut
  }

  readonly connect: Connect = ({ host, port, onConnect }) => {
    // Port 1 answers nobody.
    const socket = connect(this.#cut ? { host: '127.0.0.1', port: 1 } : { host, port }, onConnect)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    return socket
  }

  cut(): void {
    this.#cut = true
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    for (const socket of this.#sockets) socket.destroy(reset)
  }

  mend(): void {
    this.#cut = false
  }
}
