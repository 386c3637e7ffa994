import { createHmac, randomBytes } from 'node:crypto'
import { ResolveService, type RunSpec } from '@automation/contract/catalog/v1/resolve'
import { Failure } from '@automation/errors'
import { asService, type Client, type Neighbours } from '@automation/rpc'

/** Which spec is asked for: the texts of the caller, as they came. */
export interface SpecName {
  team: string
  identifier: string
  tag: string
}

interface Entry {
  name: SpecName
  spec?: RunSpec
  asking?: Promise<RunSpec>
  next?: Promise<RunSpec>
}

const room = 2000
const askTimeoutMs = 3000
const neverAborted = new AbortController().signal

/**
 * What runs need to know, as the catalog has it at the moment of asking. The spec that was read last is kept, and the
 * catalog says whether it is still true; askers that come while a read is on its way share the next one.
 */
export class Specs {
  readonly #catalog: Client<typeof ResolveService>
  readonly #entries = new Map<string, Entry>()
  readonly #keys = new WeakMap<RunSpec, string>()
  readonly #secret = randomBytes(32)

  constructor(neighbours: Neighbours) {
    this.#catalog = neighbours.client(ResolveService)
  }

  /**
   * `traceparent`: of who asks; a read that several share belongs to the first. Failures: those of ResolveRun; unavailable
   * when the catalog does not answer in time.
   */
  resolve(name: SpecName, traceparent?: string): Promise<RunSpec> {
    const entry = this.#entry(name)
    if (entry.asking === undefined) return (entry.asking = this.#ask(entry, traceparent))
    return (entry.next ??= entry.asking.then(
      () => this.#askNext(entry, traceparent),
      () => this.#askNext(entry, traceparent),
    ))
  }

  /** Names the content of a spec: equal for equal content, whatever the revision. */
  keyOf(spec: RunSpec): string {
    let key = this.#keys.get(spec)
    if (key === undefined) {
      const { digest, team, timeZone, processId, processName, processSlug, versionId, language, variables } = spec
      const content = [digest, team, timeZone, processId, processName, processSlug, versionId, language]
      const values = variables.map(({ key: name, value, isSensitive }) => [name, value, isSensitive])
      const set = [spec.dependencies?.key, spec.isInstall]
      const text = JSON.stringify([content, values, set, spec.sourceCode])
      key = createHmac('sha256', this.#secret).update(text).digest('base64url')
      this.#keys.set(spec, key)
    }
    return key
  }

  #entry(given: SpecName): Entry {
    const id = cacheKey(given)
    const { team, identifier, tag } = given
    const entry = this.#entries.get(id) ?? { name: { team, identifier, tag } }
    // Put last again: the first one is the one not used for longest.
    this.#entries.delete(id)
    this.#entries.set(id, entry)
    if (this.#entries.size > room) this.#entries.delete(this.#entries.keys().next().value!)
    return entry
  }

  #askNext(entry: Entry, traceparent: string | undefined): Promise<RunSpec> {
    entry.next = undefined
    return (entry.asking = this.#ask(entry, traceparent))
  }

  async #ask(entry: Entry, traceparent: string | undefined): Promise<RunSpec> {
    try {
      const { name, spec: known } = entry
      const principal = asService('execution', name.team)
      // The deadline ends it: a signal with a timer would cost as much as the call.
      const deadlineMs = Date.now() + askTimeoutMs
      const context = { principal, requestId: crypto.randomUUID(), traceparent, deadlineMs, signal: neverAborted }
      const { outcome } = await this.#catalog.resolveRun({ ...name, knownRevision: known?.revision ?? 0n }, context)
      if (outcome.case === 'spec') return (entry.spec = outcome.value)
      if (outcome.case === 'unchanged' && known !== undefined) return known
      throw new Failure('internal', 'internal_error', 'Internal error', { cause: 'ResolveRun answered nothing' })
    } catch (error) {
      // A spec that is gone is not kept.
      if (error instanceof Failure && error.kind === 'not_found') this.#entries.delete(cacheKey(entry.name))
      throw error
    } finally {
      entry.asking = undefined
    }
  }
}

function cacheKey({ team, identifier, tag }: SpecName): string {
  return `${team} ${identifier.length} ${identifier} ${tag}`
}
