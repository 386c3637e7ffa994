import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { listening } from '@automation/testing/listening'

export type Release = 'value' | 'fault'

/** Stands outside the system: counts the starts of process code, and holds runs until they are released. */
export interface Witness {
  url: string
  /** How often the code of an execution began. */
  startsOf(id: string): number
  /** Whether the code of an execution is there and waits. */
  isHeld(id: string): boolean
  /** Lets a run go on, now or as soon as it comes. */
  release(id: string, as: Release): void
  close(): Promise<void>
}

/** Process code that tells the witness that it began, and does what `parameters.plan` says. */
export const witnessed = `
const { witness, plan } = svc.context.parameters
const ask = async (what) => {
  const answer = await fetch(witness + what + svc.execution.id, { headers: { connection: 'close' } })
  return answer.text()
}
await ask('/start/')
console.log('started')
const word = plan === 'hold' ? await ask('/gate/') : plan
if (word === 'fault') throw new Error('asked to fail')
return { plan }
`

export async function openWitness(): Promise<Witness> {
  const starts = new Map<string, number>()
  const released = new Map<string, Release>()
  const held = new Map<string, ServerResponse>()
  const server = createServer((request, response) => {
    const [, what, id = ''] = request.url?.split('/') ?? []
    if (what === 'start') {
      starts.set(id, (starts.get(id) ?? 0) + 1)
      return response.end('noted')
    }
    const word = released.get(id)
    if (word !== undefined) return response.end(word)
    held.set(id, response)
    response.once('close', () => held.delete(id))
  })
  const { url, close } = await listening(server)
  return {
    url,
    startsOf: (id) => starts.get(id) ?? 0,
    isHeld: (id) => held.has(id),
    release: (id, as) => {
      released.set(id, as)
      held.get(id)?.end(as)
    },
    close,
  }
}
