import { connectSandbox } from '@automation/sandbox-client'
import type { Ours } from '../sides/ours.ts'
import { percentile, type Sample } from '../statistics.ts'

export interface FirstAnswers {
  imageId: string
  samples: number
  /** Waited for before each. */
  rest(): Promise<unknown>
}

const warmUps = 2

/** From the call that asks for a sandbox to the answer of its first command: `<imageId>P50Ms` and `<imageId>P99Ms`. */
export async function firstAnswers(ours: Ours, { imageId, samples, rest }: FirstAnswers): Promise<Sample> {
  const times: number[] = []
  for (let index = -warmUps; index < samples; index += 1) {
    await rest()
    const startedAt = performance.now()
    const made = await ours.call<{ id: string; grpcServerUrl: string; grpcApiKey: string }>('POST', '/sandboxes', {
      imageId,
    })
    const sandbox = connectSandbox(made)
    const { stdout } = await sandbox.run(['echo', 'here'])
    if (index >= 0) times.push(performance.now() - startedAt)
    if (stdout !== 'here\n') throw new Error(`the command of a sandbox gave ${JSON.stringify(stdout)}`)
    sandbox.close()
    await ours.call('POST', `/sandboxes/${made.id}/kill`)
  }
  const sorted = times.toSorted((a, b) => a - b)
  return { [`${imageId}P50Ms`]: percentile(sorted, 0.5), [`${imageId}P99Ms`]: percentile(sorted, 0.99) }
}
