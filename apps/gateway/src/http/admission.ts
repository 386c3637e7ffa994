import { Failure } from '@automation/errors'
import type { Exchange } from './exchange.ts'
import { malformedRequest } from './refusals.ts'

/** Why a request is refused whatever it asks for; undefined when it is not. */
export function inadmissible({ incoming }: Exchange): Failure | undefined {
  const { headers } = incoming
  if (headers.host === undefined && incoming.httpVersion === '1.1')
    return malformedRequest('The Host header is missing')
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    return new Failure('invalid_argument', 'expectation_failed', 'Only Expect: 100-continue is understood')
  return undefined
}
