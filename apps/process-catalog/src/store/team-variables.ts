import type { RunVariableSchema } from '@automation/contract/catalog/v1/resolve'
import type { SecretBox } from '@automation/database'
import { EventLoopTurns } from '@automation/service'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { LRUCache } from 'lru-cache'
import { limits } from '../fields/limits.ts'
import { variableContext } from '../fields/variable-rules.ts'

/** As a run's specification has them. */
export interface RunVariables {
  variables?: MessageInitShape<typeof RunVariableSchema>[]
  variablesFault?: string
}

/** What runs of a team see at a revision of it. */
interface Known {
  revision: string
  seen: RunVariables
}

/** What the statement says of variables; nothing where their revision is known. */
export interface SealedRows {
  revision: string
  sealedVariables: [id: string, key: string, keyId: string, isSensitive: boolean, bytes: number][] | null
  /** One behind the other, in base64; none where they are too large. */
  ciphertexts: string | null
}

/** Values in clear are not kept for longer, such as those of a team that is removed. */
const keptMs = 600_000
/** About what an object in memory takes beside its texts. */
const objectBytes = 200

/** The variables that runs of a team see, kept as they were opened last: they are the same until its revision is another. */
export class TeamVariables {
  readonly #box: SecretBox
  readonly #kept = new LRUCache<string, Known>({
    maxSize: limits.keptVariablesBytes,
    ttl: keptMs,
    ttlAutopurge: true,
  })

  constructor(box: SecretBox) {
    this.#box = box
  }

  /** What is known of a team, which a statement then need not read. */
  of(team: string): Known | undefined {
    return this.#kept.get(team)
  }

  /** What a statement has found that was told of `known`. */
  async open(team: string, rows: SealedRows, known: Known | undefined): Promise<RunVariables> {
    const { revision, sealedVariables, ciphertexts } = rows
    if (known?.revision === revision) return known.seen
    const seen = sealedVariables === null ? {} : await this.#opened(sealedVariables, ciphertexts)
    const bytes = (ciphertexts?.length ?? 0) + (seen.variables?.length ?? 0) * objectBytes
    this.#kept.set(team, { revision, seen }, { size: bytes + objectBytes })
    return seen
  }

  async #opened(sealed: NonNullable<SealedRows['sealedVariables']>, ciphertexts: string | null): Promise<RunVariables> {
    if (ciphertexts === null) return { variablesFault: faultOf(sealed.length) }
    const variables: NonNullable<RunVariables['variables']> = []
    const all = Buffer.from(ciphertexts, 'base64')
    const turns = new EventLoopTurns()
    let at = 0
    for (const [id, key, keyId, isSensitive, bytes] of sealed) {
      await turns.next()
      const ciphertext = all.subarray(at, (at += bytes))
      variables.push({ key, value: this.#box.open({ ciphertext, keyId }, variableContext(id)), isSensitive })
    }
    return { variables }
  }
}

function faultOf(count: number): string {
  return count > limits.runVariableCount
    ? `The run sees more than ${limits.runVariableCount} variables`
    : `The variables of the team are larger than ${limits.runVariablesBytes} bytes together`
}
