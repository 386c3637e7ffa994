import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { Failure, invalid } from '@automation/errors'
import { malformedRequest } from './refusals.ts'

/** The most parts that a form may have: each costs far more than its bytes. */
export const MAX_PARTS = 1000

/** A parser of multipart forms while it is given one. */
interface FormFeed {
  /** Resolves when the form has ended. Failures: malformed_request, and what it was refused with. */
  ended: Promise<void>
  /** Gives the parser no more of it. */
  refuse(failure: Failure): void
}

/** Gives a form to its parser, as fast as that takes it. */
export function feedForm(parser: Writable, body: AsyncIterable<Uint8Array>): FormFeed {
  const { promise: finished, resolve, reject } = Promise.withResolvers<void>()
  // Stays: an error that nobody listens to would end the process.
  parser.on('error', (error) => reject(malformedForm(error)))
  parser.on('finish', resolve)
  finished.catch(() => undefined)
  let refusal: Failure | undefined
  const feed = async () => {
    for await (const piece of body) {
      const isReady = isTaken(parser, piece)
      if (refusal !== undefined) throw refusal
      if (!isReady) await Promise.race([once(parser, 'drain'), finished])
    }
    parser.end()
    await finished
  }
  return {
    ended: feed(),
    refuse: (failure) => {
      refusal ??= failure
    },
  }
}

/** 400. */
export function tooManyParts(): Failure {
  return invalid('', `The form has more than ${MAX_PARTS} parts`, 'too_many_parts')
}

/** 400 for a form that can't be read. */
export function malformedForm(cause: unknown): Failure {
  return cause instanceof Failure ? cause : malformedRequest('The multipart body is malformed', cause)
}

/** Some malformed headers of parts make the parser throw. */
function isTaken(parser: Writable, piece: Uint8Array): boolean {
  try {
    return parser.write(piece)
  } catch (error) {
    throw malformedForm(error)
  }
}
