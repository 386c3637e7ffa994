import { createHash, timingSafeEqual } from 'node:crypto'
import type { DescMethod } from '@bufbuild/protobuf'
import { ControlService, type AdoptRequest } from '@automation/contract/sandbox/v1/daemon'
import { Failure, invalid } from '@automation/errors'
import type { Principal } from '@automation/rpc'

const user: Principal = { role: 'user', team: '', subject: 'sandbox', name: 'sandbox' }
const system: Principal = { role: 'service', team: '', subject: 'gateway', name: 'gateway' }

/** Whom this daemon belongs to: nobody until it is adopted, then one sandbox, by the key of its users. */
export class Owner {
  #daemonKey: Buffer
  #adopted: { sandboxId: string; key: Buffer } | undefined
  /** Of the sandbox, for its commands. */
  environment: Record<string, string> = {}

  /** `daemonKey`: the digest of what calls of the system bring. */
  constructor(daemonKey: Buffer) {
    this.#daemonKey = daemonKey
  }

  /** Who calls a method with this key. Failures: unauthenticated sandbox_key; failed_precondition not_adopted. */
  verify(key: string, method: DescMethod): Principal {
    const control = method.parent.typeName === ControlService.typeName
    const wanted = control ? this.#daemonKey : this.#adopted?.key
    if (key === '' || wanted === undefined || !timingSafeEqual(keyDigest(key), wanted))
      throw new Failure('unauthenticated', 'sandbox_key', 'The call needs the x-api-key of this sandbox')
    if (this.#adopted === undefined && method.localName !== 'adopt')
      throw new Failure('failed_precondition', 'not_adopted', 'This daemon belongs to no sandbox yet')
    return control ? system : user
  }

  /** May be repeated with the same sandbox and key. Failure: already_exists already_adopted. */
  adopt({ sandboxId, grpcApiKey, environment, daemonKey }: AdoptRequest): void {
    if (sandboxId === '') throw invalid('/sandbox_id', 'is required')
    if (grpcApiKey === '') throw invalid('/grpc_api_key', 'is required')
    const key = keyDigest(grpcApiKey)
    if (this.#adopted !== undefined) {
      if (this.#adopted.sandboxId === sandboxId && timingSafeEqual(this.#adopted.key, key)) return
      throw new Failure('already_exists', 'already_adopted', 'This daemon belongs to a sandbox already')
    }
    this.#adopted = { sandboxId, key }
    if (daemonKey !== '') this.#daemonKey = keyDigest(daemonKey)
    this.environment = { ...environment }
  }
}

/** SHA-256. */
export function keyDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
