import type { LimitSchema } from '@automation/contract/common/v1/limit'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { Connections } from '../store/connections.ts'
import type { Slots } from '../dispatch/slots.ts'
import { readTeamSlots } from '../store/run-slots.ts'
import type { DatabaseBytesLimit } from '../accept/database-bytes-limit.ts'
import type { RunLimits } from '../run-limits.ts'

/** What a team may run, and has running. */
export class TeamCapacity {
  readonly #reads: Connections
  readonly #limits: RunLimits
  readonly #databaseBytes: DatabaseBytesLimit
  readonly #slots: Slots

  constructor(reads: Connections, limits: RunLimits, databaseBytes: DatabaseBytesLimit, slots: Slots) {
    this.#databaseBytes = databaseBytes
    this.#reads = reads
    this.#slots = slots
    this.#limits = limits
  }

  async limits(team: string): Promise<MessageInitShape<typeof LimitSchema>[]> {
    const reads = this.#reads.forTeam(team)
    const { running, queued } = await readTeamSlots(reads, team)
    const databaseBytes = await this.#databaseBytes.shown(reads, team)
    const { maxQueued } = this.#limits.of(team, false)
    const maxRunning = this.#limits.running(team)
    const runners = this.#slots.ownRunners(team)
    return [
      { name: 'running', allowed: BigInt(maxRunning), inUse: BigInt(running) },
      { name: 'queued', allowed: BigInt(maxQueued), inUse: BigInt(queued) },
      ...(databaseBytes === undefined ? [] : [databaseBytes]),
      ...(runners === undefined
        ? []
        : [{ name: 'runners', allowed: BigInt(runners.allowed), inUse: BigInt(runners.inUse) }]),
    ]
  }
}
