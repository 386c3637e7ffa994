import { createHmac, randomBytes } from 'node:crypto'
import { ResolveService, type RunSpec } from '@automation/contract/catalog/v1/resolve'
import { Failure, unavailable } from '@automation/errors'
import { asService, type CallContext, type Client, type Neighbours } from '@automation/rpc'
import { isUuid } from '@automation/contract/forms'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { LRUCache } from 'lru-cache'

/** Which spec is asked for: the texts of the caller, as they came. */
export interface SpecName {
  team: string
  identifier: string
  tag: string
}

/** A read that is on its way. */
interface Asking {
  name: SpecName
  id: string
  /** Among the deleted versions. */
  deleted: boolean
  answer?: Promise<RunSpec>
  /** Of those that came meanwhile. */
  next?: Promise<RunSpec>
  /** What the read before it has found. */
  found?: RunSpec
}

interface SpecsOptions {
  /** What the specs that are kept may hold together, and those of one team. */
  maxBytes: number
  teamMaxBytes: number
  /** Set to what is held when that changes. */
  held?: { set(bytes: number): void }
}

// Who comes while a read is on its way waits for that and for the next one: five seconds are promised.
const askTimeoutMs = 2300
const silentText = 'The process catalog does not answer, try again'
const neverAborted = new AbortController().signal

/**
 * What runs need to know, as the catalog has it at the moment of asking. The specs of runs that were accepted and of webhooks
 * that were called are kept, and the catalog says whether they are still true; askers that come while a read is on its way
 * share the next one.
 */
export class Specs {
  readonly #catalog: Client<typeof ResolveService>
  readonly #kept: TeamShares<RunSpec>
  readonly #asked = new Map<string, Asking>()
  readonly #keys = new WeakMap<RunSpec, string>()
  /** Those of deleted versions, which are kept apart: only runs that may have them find them. */
  readonly #deleted = new WeakSet<RunSpec>()
  readonly #secret = randomBytes(32)
  readonly #options: SpecsOptions

  constructor(neighbours: Neighbours, options: SpecsOptions) {
    this.#catalog = neighbours.client(ResolveService)
    this.#options = options
    this.#kept = new TeamShares(options)
  }

  /**
   * `traceparent`: of who asks; a read that several share belongs to the first. Failures: those of ResolveRun; unavailable
   * when the catalog does not answer in time.
   */
  resolve(name: SpecName, traceparent?: string): Promise<RunSpec> {
    return this.#share(name, false, traceparent)
  }

  /** Whether a spec of this name is kept. */
  has(name: SpecName): boolean {
    return this.#kept.get(name.team, cacheKey(name, false)) !== undefined
  }

  /**
   * A run of this spec was accepted, or a call of its webhook refused, so the next one need not read it anew. Whatever else is
   * refused leaves nothing here.
   */
  keep(name: SpecName, spec: RunSpec): void {
    const id = cacheKey(name, this.#deleted.has(spec))
    const kept = this.#kept.get(name.team, id)
    if (kept !== undefined && kept.revision >= spec.revision) return
    this.#kept.set(name.team, id, spec, specBytes(spec))
    this.#options.held?.set(this.#kept.bytes)
  }

  /** The same for a run that is repeated, or was accepted before: its version, named by the id, may be deleted by now. */
  async resolveAgain(name: SpecName, traceparent?: string): Promise<RunSpec> {
    // What was deleted stays so: of those that are known to be, nothing else is asked.
    if (this.#isDeleted(name)) return this.#share(name, true, traceparent)
    try {
      return await this.resolve(name, traceparent)
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'version_not_found' || !isUuid(name.tag)) throw error
      return this.#share(name, true, traceparent)
    }
  }

  /** The same as `spec`, which `name` has now, as it was then, as far as that is kept: to look at. Failures as of `resolve`. */
  async resolveAsOf(name: SpecName, spec: RunSpec, asOf: Date): Promise<RunSpec | undefined> {
    const request = {
      ...name,
      deleted: this.#deleted.has(spec),
      takesVariablesFault: true,
      asOf: timestampFromDate(asOf),
    }
    const { outcome } = await this.#catalog.resolveRun(request, this.#contextFor(name.team, undefined))
    return outcome.case === 'spec' ? outcome.value : undefined
  }

  /** Names the content of a spec: equal for equal content, whatever the revision. */
  keyOf(spec: RunSpec): string {
    let key = this.#keys.get(spec)
    if (key === undefined) {
      const { digest, team, timeZone, processId, processName, processSlug, versionId, language, variables } = spec
      const content = [digest, team, timeZone, processId, processName, processSlug, versionId, language]
      const values = variables.map(({ key: name, value, isSensitive }) => [name, value, isSensitive])
      const set = [spec.dependencies?.key, spec.dependenciesError, spec.isInstall]
      const text = JSON.stringify([content, values, set, spec.sourceCode])
      key = createHmac('sha256', this.#secret).update(text).digest('base64url')
      this.#keys.set(spec, key)
    }
    return key
  }

  #isDeleted(name: SpecName): boolean {
    if (!isUuid(name.tag)) return false
    const id = cacheKey(name, true)
    return this.#asked.has(id) || this.#kept.get(name.team, id) !== undefined
  }

  #share({ team, identifier, tag }: SpecName, deleted: boolean, traceparent: string | undefined): Promise<RunSpec> {
    const name = { team, identifier, tag }
    const id = cacheKey(name, deleted)
    const asking = this.#asked.get(id)
    if (asking !== undefined) {
      const ask = () => this.#askNext(asking, traceparent)
      return (asking.next ??= asking.answer!.then(ask, ask))
    }
    const begun: Asking = { name, id, deleted }
    this.#asked.set(id, begun)
    return (begun.answer = this.#ask(begun, traceparent))
  }

  #askNext(asking: Asking, traceparent: string | undefined): Promise<RunSpec> {
    asking.next = undefined
    return (asking.answer = this.#ask(asking, traceparent))
  }

  #contextFor(team: string, traceparent: string | undefined): CallContext {
    const principal = asService('execution', team)
    // The deadline ends it: a signal with a timer would cost as much as the call.
    const deadlineMs = Date.now() + askTimeoutMs
    return { principal, requestId: crypto.randomUUID(), traceparent, deadlineMs, signal: neverAborted }
  }

  async #ask(asking: Asking, traceparent: string | undefined): Promise<RunSpec> {
    const { name, id, deleted } = asking
    try {
      const known = asking.found ?? this.#kept.get(name.team, id)
      const context = this.#contextFor(name.team, traceparent)
      const knownRevision = known?.revision ?? 0n
      const request = { ...name, deleted, knownRevision, takesVariablesFault: true }
      const { outcome } = await this.#catalog.resolveRun(request, context)
      if (outcome.case === 'spec') {
        if (deleted) this.#deleted.add(outcome.value)
        return (asking.found = outcome.value)
      }
      if (outcome.case === 'unchanged' && known !== undefined) return (asking.found = known)
      throw new Failure('internal', 'internal_error', 'Internal error', { cause: 'ResolveRun answered nothing' })
    } catch (error) {
      // A spec that is gone is not kept.
      if (error instanceof Failure && error.kind === 'not_found') this.#forget(asking)
      // Its own time was over, not that of who asks.
      if (error instanceof Failure && error.kind === 'deadline_exceeded') throw unavailable(silentText, error)
      throw error
    } finally {
      if (asking.next === undefined) this.#asked.delete(id)
    }
  }

  #forget(asking: Asking): void {
    asking.found = undefined
    this.#kept.delete(asking.name.team, asking.id)
    this.#options.held?.set(this.#kept.bytes)
  }
}

function cacheKey({ team, identifier, tag }: SpecName, deleted: boolean): string {
  return `${team} ${deleted ? 'deleted ' : ''}${identifier.length} ${oneCase(identifier)} ${oneCase(tag)}`
}

/** Ids mean the same in capitals. */
function oneCase(name: string): string {
  return isUuid(name) ? name.toLowerCase() : name
}

const sizes = new WeakMap<RunSpec, number>()
/** About what an object in memory takes beside its texts. */
const objectBytes = 200

/** Bytes of a spec: its source, modules, variables and schema. Reads its texts once. */
export function specBytes(spec: RunSpec): number {
  let bytes = sizes.get(spec)
  if (bytes === undefined) {
    bytes = measured(spec)
    sizes.set(spec, bytes)
  }
  return bytes
}

/** What a cache of specs may hold, and one team there: a quarter of it, yet any one spec. */
export function specShares(bytes: number, specMaxBytes: number): { maxBytes: number; teamMaxBytes: number } {
  const teamMaxBytes = Math.max(Math.floor(bytes / 4), specMaxBytes)
  return { maxBytes: Math.max(bytes, teamMaxBytes), teamMaxBytes }
}

/** Failure too_large run_too_large. */
export function checkSpecSize(spec: RunSpec, maxBytes: number): void {
  if (spec.variablesFault !== undefined) throw tooLarge(spec.variablesFault)
  const bytes = specBytes(spec)
  if (bytes <= maxBytes) return
  const what = 'The source of the process, its modules and the variables of the team'
  const limit = `more than the ${maxBytes} that a run may have`
  throw tooLarge(`${what} have ${bytes} bytes together, ${limit}`)
}

function tooLarge(text: string): Failure {
  return new Failure('too_large', 'run_too_large', text)
}

function measured(spec: RunSpec): number {
  const { sourceCode, enforcedSchema, unenforcedSchema, modules, variables, imports, webhook } = spec
  let bytes = Buffer.byteLength(sourceCode) + 10 * objectBytes
  bytes += Buffer.byteLength(enforcedSchema ?? unenforcedSchema ?? '')
  for (const module of modules)
    bytes += Buffer.byteLength(module.sourceCode) + (module.imports.length + 1) * objectBytes
  for (const { key, value } of variables) bytes += Buffer.byteLength(key) + Buffer.byteLength(value) + objectBytes
  return bytes + (imports.length + (webhook?.allowedAddresses.length ?? 0)) * objectBytes
}

const mostCharacters = 500

/** Whether runs of this spec wait until packages are installed. */
export function awaitsPackages({ awaitedDependencies }: RunSpec): boolean {
  return awaitedDependencies !== ''
}

/** For a run that waits for packages. */
export function whyHeld({ awaitedDependencies: names }: RunSpec): string {
  const shown = names.length > mostCharacters ? `${names.slice(0, mostCharacters)}…` : names
  return `Waits for packages that are being installed: ${shown}`
}

interface TeamSharesOptions<V> {
  /** What all teams may hold together, and what one may. */
  maxBytes: number
  teamMaxBytes: number
  /** It had to go for something newer. */
  evicted?(key: string, value: V): void
}

/**
 * Things of teams by their weight. What a team has not used for longest goes when it holds more than its share; beyond
 * what there is for all, the team that holds most gives something up, so none can drive out the others.
 */
export class TeamShares<V extends object> {
  readonly #teams = new Map<string, LRUCache<string, V>>()
  readonly #options: TeamSharesOptions<V>
  #bytes = 0

  constructor(options: TeamSharesOptions<V>) {
    this.#options = options
  }

  get bytes(): number {
    return this.#bytes
  }

  get(team: string, key: string): V | undefined {
    return this.#teams.get(team)?.get(key)
  }

  /** Keeps it until others have to be kept; what is heavier than a share is not kept. */
  set(team: string, key: string, value: V, bytes: number): void {
    const held = this.#teams.get(team) ?? this.#open(team)
    this.#change(team, held, () => held.set(key, value, { size: Math.max(1, bytes) }))
    while (this.#bytes > this.#options.maxBytes) {
      const [most, ofMost] = this.#mostBut(team)
      if (ofMost === undefined) return
      this.#change(most, ofMost, () => ofMost.pop())
    }
  }

  delete(team: string, key: string): void {
    const held = this.#teams.get(team)
    if (held !== undefined) this.#change(team, held, () => held.delete(key))
  }

  #open(team: string): LRUCache<string, V> {
    const { teamMaxBytes, evicted } = this.#options
    const held = new LRUCache<string, V>({
      maxSize: teamMaxBytes,
      dispose: (value, key, reason) => reason === 'evict' && evicted?.(key, value),
    })
    this.#teams.set(team, held)
    return held
  }

  #change(team: string, held: LRUCache<string, V>, change: () => unknown): void {
    const before = held.calculatedSize
    change()
    this.#bytes += held.calculatedSize - before
    if (held.size === 0) this.#teams.delete(team)
  }

  /** The team that holds most; this one keeps at least what it has got just now. */
  #mostBut(team: string): [team: string, held: LRUCache<string, V> | undefined] {
    let most: [string, LRUCache<string, V> | undefined] = ['', undefined]
    for (const each of this.#teams) {
      const [name, held] = each
      if (name === team && held.size === 1) continue
      if (held.calculatedSize > (most[1]?.calculatedSize ?? 0)) most = each
    }
    return most
  }
}
