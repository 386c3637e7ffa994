import type { RunSettings } from '@automation/contract/execution/v1/execution'
import { Failure } from '@automation/errors'
import type { ExecutionConfig } from '../config.ts'
import { checkComment, checkParameters, defaultPool, type CheckedSettings } from './run-settings.ts'
import { storedText } from '../store/stored-text.ts'

interface Input {
  parameters: Uint8Array
  comment?: string
  settings?: RunSettings
}

const largestTimeoutMs = 2 ** 31 - 1

/** Whether a run was refused for what it was to have, so that asking again changes nothing. */
export function isRefusal(error: unknown): error is Failure {
  return error instanceof Failure && (error.kind === 'invalid_argument' || error.kind === 'too_large')
}

/** What the record of a refused run shows: what was asked for, without what no record may hold. */
export function refusedInput(
  { parameters, comment, settings }: Input,
  config: Pick<ExecutionConfig, 'pools' | 'runTimeoutMs' | 'parametersMaxBytes'>,
): CheckedSettings & { parameters: Uint8Array; comment?: string } {
  return {
    parameters: unlessRefused(() => checkParameters(parameters, config.parametersMaxBytes)) ?? Buffer.from('{}'),
    comment: unlessRefused(() => checkComment(comment)),
    pool: storedText(settings?.agentPool || defaultPool(config.pools)),
    timeoutMs: Math.min(settings?.timeoutMs ?? config.runTimeoutMs, largestTimeoutMs),
    freshProcess: settings?.freshProcess ?? false,
    callbackUrl: settings?.callbackUrl || undefined,
  }
}

function unlessRefused<T>(check: () => T): T | undefined {
  try {
    return check()
  } catch (error) {
    if (isRefusal(error)) return undefined
    throw error
  }
}
