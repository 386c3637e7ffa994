import type { SandboxRouteSchema } from '@automation/contract/sandbox/v1/sandbox'
import type { SecretBox } from '@automation/database'
import { Failure, notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { isUuid } from '@automation/contract/forms'
import { isKeyOf, sandboxOf } from './api-key.ts'
import { daemonKeyContext, opened } from './sandbox-message.ts'
import { readReachable } from './store/reads.ts'
import type { SandboxRow } from './store/rows.ts'
import type { Store } from './store/store.ts'

type Route = MessageInitShape<typeof SandboxRouteSchema>

/** Where the traffic of sandboxes goes. */
export class Routes {
  readonly #store: Store
  readonly #box: SecretBox

  readonly #requireActive: (team: string) => void

  /** `requireActive` fails with team_suspended where nothing new may run for a team. */
  constructor(store: Store, box: SecretBox, requireActive: (team: string) => void) {
    this.#requireActive = requireActive
    this.#store = store
    this.#box = box
  }

  /** Failures: sandbox_not_found for what is unknown, has ended, or has no such public port; sandbox_starting; team_suspended. */
  async byPort(id: string, port: number): Promise<Route> {
    const row = isUuid(id) ? await readReachable(this.#store, id) : undefined
    if (row === undefined || !row.publicHttpPorts.includes(port)) throw notFound('sandbox')
    return this.#routeTo(row)
  }

  /** Failures: sandbox_key for a key of none that is there; sandbox_starting; team_suspended. */
  async byKey(apiKey: string): Promise<Route> {
    const id = sandboxOf(apiKey)
    const row = id === undefined ? undefined : await readReachable(this.#store, id)
    if (row === undefined || !isKeyOf(apiKey, row.apiKeyDigest))
      throw new Failure('unauthenticated', 'sandbox_key', 'The key belongs to no sandbox that runs')
    return this.#routeTo(row)
  }

  #routeTo(row: SandboxRow): Route {
    this.#requireActive(row.team)
    if (row.daemonAddress === null)
      throw new Failure('unavailable', 'sandbox_starting', 'The sandbox is starting, try again', { retryAfterS: 1 })
    return {
      sandboxId: row.id,
      team: row.team,
      daemonAddress: row.daemonAddress,
      daemonKey: opened(this.#box, row, row.daemonKey, daemonKeyContext(row.id)),
      basicAuth:
        row.authUsername === null
          ? undefined
          : { username: row.authUsername, passwordHash: row.authPasswordHash ?? '' },
    }
  }
}
