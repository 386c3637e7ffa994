import { isConnectionFailure } from '@automation/database'
import { failPoint, type Logger } from '@automation/service'
import { dayOf } from '../execution-id.ts'
import { BatchWriter } from '../store/batch-writer.ts'
import type { Metrics } from '../metrics.ts'
import type { Signals } from '../signals.ts'
import { chunkWeight, insertChunks, type Chunk } from '../store/log-chunks.ts'
import type { Partitions } from '../store/partitions.ts'
import type { Queries } from '../store/connections.ts'

const backpressureBytes = 8 * 1024 * 1024
const pauseMs = 250

/** Stores log chunks while runs go on, outside their slots. */
export class Logs {
  readonly #writer: BatchWriter<Chunk, void>
  readonly #pending = new Map<string, Promise<void>>()
  #bytes = 0

  constructor(
    pool: Queries,
    partitions: Partitions,
    metrics: Metrics,
    logger: Logger,
    signal: AbortSignal,
    signals: Signals,
  ) {
    this.#writer = new BatchWriter<Chunk, void>({
      flush: async (chunks) => {
        if ((await partitions.kept([chunks[0]!.id])).length > 0) await store(pool, chunks, signal)
        signals.logged.emit(chunks.map(({ id }) => id))
        return chunks.map(() => undefined)
      },
      group: ({ id }) => dayOf(id),
      weight: chunkWeight,
      isolates: (error) => !isConnectionFailure(error),
      metrics: metrics.writer('logs'),
    })
    this.#logger = logger
  }
  readonly #logger: Logger

  /** Returns when there is room for more; `stored` says when the chunks of a run are in the database. */
  async append(chunk: Chunk): Promise<void> {
    const weight = chunkWeight(chunk)
    this.#bytes += weight
    const storing: Promise<void> = this.#writer
      .add(chunk)
      .catch((error: unknown) => this.#logger.error({ err: error, executionId: chunk.id }, 'log lines are lost'))
      .finally(() => {
        this.#bytes -= weight
        if (this.#pending.get(chunk.id) === storing) this.#pending.delete(chunk.id)
      })
    this.#pending.set(chunk.id, storing)
    if (this.#bytes > backpressureBytes) await storing
  }

  /** So that whoever learns of a run's end finds its log complete. */
  stored(executionId: string): Promise<void> | undefined {
    return this.#pending.get(executionId)
  }
}

async function store(pool: Queries, chunks: Chunk[], signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      failPoint('logs-before-commit')
      return await insertChunks(pool, chunks)
    } catch (error) {
      if (!isConnectionFailure(error) || signal.aborted) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
