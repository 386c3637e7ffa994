import { ResolveService, RunSpecSchema, type RunSpec } from '@automation/contract/catalog/v1/resolve'
import { TeamService, type ErrorHandlerSchema } from '@automation/contract/catalog/v1/team'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { Language } from '@automation/contract/common/v1/language'
import { isUuid } from '@automation/contract/forms'
import { notFound } from '@automation/errors'
import { memberIn, served, type Handlers, type ServedService } from '@automation/rpc'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { v7 } from 'uuid'

/** A catalog in memory: processes of any team by slug, each with versions by tag. */
export class SmallCatalog {
  readonly #specs = new Map<string, RunSpec>()
  readonly #deleted = new Map<string, RunSpec>()
  #revision = 1n
  /** Answered when set, in place of an answer. */
  failure: Error | undefined
  /** The same for one call on behalf of one team, such as `getTeam demo`. */
  readonly failures = new Map<string, Error>()
  /** Settled before it answers, when set. */
  silence: Promise<void> | undefined
  asked = 0
  /** The slugs of which a whole spec was read, with their teams. */
  readonly read: string[] = []
  /** Of teams. */
  readonly errorHandlers = new Map<string, MessageInitShape<typeof ErrorHandlerSchema>>()

  /** Adds or replaces a process; gives its id. */
  put(slug: string, init: MessageInitShape<typeof RunSpecSchema> = {}, tag = ''): string {
    const processId = init.processId ?? this.#specs.get(`${slug} `)?.processId ?? v7()
    this.#revision += 1n
    const spec = create(RunSpecSchema, {
      processId,
      processName: slug,
      processSlug: slug,
      timeZone: 'UTC',
      language: Language.JAVASCRIPT,
      sourceCode: `return 1 // ${this.#revision}`,
      digest: `${slug} ${tag} ${this.#revision}`,
      versionId: tag === '' ? undefined : v7(),
      revision: this.#revision,
      ...init,
    })
    for (const name of [slug, processId])
      for (const at of [tag, spec.versionId ?? tag]) this.#specs.set(`${name} ${at}`, spec)
    return processId
  }

  /** Keeps a draft of a process, or changes what its runs see; gives its id. */
  keepDraft(slug: string, init: MessageInitShape<typeof RunSpecSchema> = {}): string {
    const versionId = init.versionId ?? v7().replace(/^(.{14})7/, '$18')
    this.put(slug, { ...init, versionId }, 'draft')
    this.removeVersion(slug, 'draft')
    return versionId
  }

  /** A version is deleted: only those find it who ask for deleted ones, by its id. */
  removeVersion(slug: string, tag: string): void {
    const gone = this.#specs.get(`${slug} ${tag}`)
    for (const [key, spec] of this.#specs) {
      if (spec !== gone) continue
      this.#specs.delete(key)
      if (key.endsWith(` ${spec.versionId}`)) this.#deleted.set(key, spec)
    }
  }

  /** Something that runs of deleted versions see is another, such as a variable. */
  changeDeleted(): void {
    this.#revision += 1n
    for (const [key, spec] of this.#deleted) this.#deleted.set(key, { ...spec, revision: this.#revision })
  }

  remove(slug: string): void {
    for (const [key, { processSlug }] of this.#specs) if (processSlug === slug) this.#specs.delete(key)
  }

  #check(call: string): void {
    const failure = this.failure ?? this.failures.get(call)
    if (failure !== undefined) throw failure
  }

  get service(): ServedService<typeof ResolveService> {
    return served(ResolveService, {
      resolveRun: async ({ team, identifier: name, tag, knownRevision, deleted }) => {
        const identifier = isUuid(name) ? name.toLowerCase() : name
        this.asked += 1
        await this.silence
        this.#check(`resolveRun ${team}`)
        if (!this.#specs.has(`${identifier} `)) throw notFound('process')
        const spec = (deleted ? this.#deleted : this.#specs).get(`${identifier} ${tag}`)
        if (spec === undefined) throw notFound('version')
        if (spec.revision === knownRevision) return { outcome: { case: 'unchanged' as const, value: {} } }
        this.read.push(`${team} ${spec.processSlug}`)
        return { outcome: { case: 'spec' as const, value: create(RunSpecSchema, { ...spec, team }) } }
      },
    })
  }

  /** Limits of single teams, each as the operator sets it. */
  readonly limits: { team: string; name: string; value: bigint }[] = []
  readonly suspended: string[] = []
  /** Answered when set, in place of the limits. */
  limitsFailure: Error | undefined

  get teamLimits(): ServedService<typeof TeamLimitService> {
    const handlers: Pick<Handlers<typeof TeamLimitService>, 'listTeamLimits'> = {
      listTeamLimits: async () => {
        if (this.limitsFailure !== undefined) throw this.limitsFailure
        const suspensions = this.suspended.map((team) => ({ team }))
        const revision = BigInt(this.limits.length + this.suspended.length)
        return { revision, limits: this.limits, suspensions, tellsSuspensions: true }
      },
    }
    return served(TeamLimitService, handlers as Handlers<typeof TeamLimitService>)
  }

  get teams(): ServedService<typeof TeamService> {
    const handlers: Pick<Handlers<typeof TeamService>, 'getTeam'> = {
      getTeam: async (_, context) => {
        this.asked += 1
        const { team } = memberIn(context)
        this.#check(`getTeam ${team}`)
        return { slug: team, errorHandlerConfig: this.errorHandlers.get(team) }
      },
    }
    return served(TeamService, handlers as Handlers<typeof TeamService>)
  }
}
