import { SealingService as CatalogSealing } from '@automation/contract/catalog/v1/sealing'
import type { ResealResponse } from '@automation/contract/common/v1/sealing'
import { SealingService as SandboxSealing } from '@automation/contract/sandbox/v1/sealing'
import { Failure } from '@automation/errors'
import type { Answer } from './answer.ts'
import { operatorContext } from './operator-context.ts'
import type { Target } from './target.ts'

interface Kept {
  kind: string
  total: number
  onOlderKeys: number
  damaged: number
}

interface State {
  keyId: string
  secrets: Kept[]
}

const stepSecrets = 2000
const keepers = [CatalogSealing, SandboxSealing] as const

/** Counts what is sealed, and by which key, and changes nothing. */
export async function encryptionStatus(target: Target): Promise<Answer> {
  return answerOf(await stateOf(target))
}

/**
 * Seals everything that is stored with the first key, and hears after each step what is left.
 * Failures: encryption_keys_differ, secrets_left.
 */
export async function rotateEncryptionKey(target: Target, progress: (state: Kept[]) => void): Promise<Answer> {
  const before = await stateOf(target)
  progress(before.secrets)
  for (const keeper of keepers) {
    for (let more = true; more;) {
      const answer = await resealed(target, keeper, stepSecrets)
      more = answer.resealed > 0
      if (more) progress(keptIn(answer))
    }
  }
  const state = await stateOf(target)
  const left = leftIn(state.secrets)
  if (left === undefined) return answerOf(state)
  throw new Failure(
    'failed_precondition',
    'secrets_left',
    `Not all could be encrypted with the first key: ${left}. Older keys must stay`,
  )
}

/** Such as `3 of 7 variables need an older key`; undefined where none does. */
export function leftIn(secrets: Kept[]): string | undefined {
  const left = secrets
    .filter(({ onOlderKeys }) => onOlderKeys > 0)
    .map(({ kind, total, onOlderKeys, damaged }) => {
      const broken = damaged > 0 ? `, ${damaged} of them damaged` : ''
      return `${onOlderKeys} of ${total} ${kind} need an older key${broken}`
    })
  return left.length === 0 ? undefined : left.join('; ')
}

async function stateOf(target: Target): Promise<State> {
  const answers = await Promise.all(keepers.map((keeper) => resealed(target, keeper, 0)))
  const keyIds = new Set(answers.map(({ keyId }) => keyId))
  const [keyId = ''] = keyIds
  if (keyIds.size === 1) return { keyId, secrets: answers.flatMap(keptIn) }
  throw new Failure(
    'failed_precondition',
    'encryption_keys_differ',
    `The services have different first keys in ENCRYPTION_KEY (${[...keyIds].join(', ')}): give all of them the same, and start them again`,
  )
}

async function resealed(target: Target, keeper: (typeof keepers)[number], limit: number): Promise<ResealResponse> {
  try {
    return await target.client(keeper).reseal({ limit }, operatorContext())
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== 'service_absent') throw thrown
    const text = 'SERVICE_ADDRESSES names no sandbox: the sandbox service keeps secrets, too'
    throw new Failure('failed_precondition', 'sandbox_address_missing', text)
  }
}

function keptIn({ secrets }: ResealResponse): Kept[] {
  return secrets.map(({ kind, total, onOlderKeys, damaged }) => ({
    kind,
    total: Number(total),
    onOlderKeys: Number(onOlderKeys),
    damaged: Number(damaged),
  }))
}

function answerOf({ keyId, secrets }: State): Answer {
  const left = leftIn(secrets)
  const text =
    left === undefined
      ? `All that is stored (${secrets.map(({ kind, total }) => `${total} ${kind}`).join(', ')}) is encrypted with the first key of ENCRYPTION_KEY, ${keyId}.
The other keys can be removed from it once every replica of every service runs with this key first. Links to stored objects that were
signed before end then; they live for 7 days at most.`
      : `${left}: no key can be removed from ENCRYPTION_KEY yet.`
  return { json: { keyId, secrets, olderKeysCanBeRemoved: left === undefined }, text }
}
