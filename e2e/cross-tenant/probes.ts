import { randomBytes } from 'node:crypto'
import type { Belongings } from './belongings.ts'
import type { Operation } from '../client/document.ts'
import { namingOf } from './naming.ts'
import type { Naming } from './naming.ts'
import { isNeeded, valueFor } from './request.ts'
import type { Values } from './request.ts'

/** Two requests of a team that differ in one word: one asks for what another team has, one for what nobody has. */
export interface Probe {
  /** The input that the word is given for. */
  about: string
  naming: Naming
  asked: string
  absent: string
  probe: Values
  control: Values
}

/** A request of a team about its own things. */
export async function rightRequest(operation: Operation, own: Belongings): Promise<Values> {
  const values: [Operation['inputs'][number], string | number | object][] = []
  for (const input of operation.inputs)
    if (isNeeded(operation, input)) values.push([input, await valueFor(operation, input, own)])
  return new Map(values)
}

/**
 * For each input that names something, and each word by which that can be named: what stands before it is the
 * asking team's own; what follows one of the path goes with what it asks for.
 */
export async function probesOf(operation: Operation, asking: Belongings, owner: Belongings): Promise<Probe[]> {
  const probes: Probe[] = []
  for (const [index, input] of operation.inputs.entries()) {
    const naming = namingOf(operation, input)
    if (typeof naming !== 'object' || naming.kind === 'language') continue
    for (const asked of await owner.names[naming.kind]()) {
      const absent = absentLike(asked)
      const filled = async (word: string): Promise<Values> => {
        const own = await rightRequest(operation, asking)
        const theirs = naming.restIsOwn || input.location !== 'path' ? own : await rightRequest(operation, owner)
        const values = operation.inputs.map((one, at) => [one, (at < index ? own : theirs).get(one)] as const)
        const given = values.filter((pair): pair is [typeof input, string | number | object] => pair[1] !== undefined)
        return new Map([...given, [input, word]])
      }
      const about = `${input.location} ${input.name}`
      probes.push({ about, naming, asked, absent, probe: await filled(asked), control: await filled(absent) })
    }
  }
  return probes
}

/** A word of the same form that nobody has. */
export function absentLike(word: string): string {
  if (word.startsWith('sk-')) {
    const [clientId = ''] = Buffer.from(word.slice(3), 'base64').toString().split(':')
    return `sk-${Buffer.from(`${clientId}:${randomBytes(32).toString('base64url')}`).toString('base64')}`
  }
  const unique = [...word.matchAll(/[0-9a-f]{8,}/g)].at(-1)
  if (!unique) return `absent-${randomBytes(6).toString('hex')}`
  const [old] = unique
  const other = randomBytes(old.length).toString('hex').slice(0, old.length)
  return word.slice(0, unique.index) + other + word.slice(unique.index + old.length)
}
