import { asFailure } from '@automation/errors'
import { served, type CallContext, type Handlers, type ServedService } from '@automation/rpc'
import type { DescService } from '@bufbuild/protobuf'
import type { CallEnd, Metrics } from '../metrics.ts'

type Handler = (request: unknown, context: CallContext) => AsyncIterable<unknown> | Promise<unknown>

/** A service each of whose calls is measured. */
export function measured<S extends DescService>(service: S, handlers: Handlers<S>, metrics: Metrics): ServedService<S> {
  const wrapped = Object.entries(handlers as Record<string, Handler>).map(([name, handler]) => [
    name,
    (request: unknown, context: CallContext) => {
      const call = new MeasuredCall(name, metrics)
      const answer = handler(request, context)
      return Symbol.asyncIterator in answer ? call.stream(answer) : call.answer(answer)
    },
  ])
  return served(service, Object.fromEntries(wrapped) as Handlers<S>)
}

class MeasuredCall {
  readonly #name: string
  readonly #metrics: Metrics
  readonly #startedAt = performance.now()

  constructor(name: string, metrics: Metrics) {
    this.#name = name
    this.#metrics = metrics
  }

  async answer<T>(answer: Promise<T>): Promise<T> {
    let end: CallEnd = 'ok'
    try {
      return await answer
    } catch (error) {
      end = this.#endOf(error)
      throw error
    } finally {
      this.#ended(end)
    }
  }

  async *stream<T>(answers: AsyncIterable<T>): AsyncIterable<T> {
    // Whoever leaves before the end comes by neither of the others.
    let end: CallEnd = 'cancelled'
    try {
      yield* answers
      end = 'ok'
    } catch (error) {
      end = this.#endOf(error)
      throw error
    } finally {
      this.#ended(end)
    }
  }

  #endOf(error: unknown): CallEnd {
    const { kind, code } = asFailure(error)
    if (kind === 'too_large') this.#metrics.refused(code)
    return code === 'call_cancelled' ? 'cancelled' : kind
  }

  #ended(end: CallEnd): void {
    this.#metrics.called(this.#name, end, performance.now() - this.#startedAt)
  }
}
