import type { StartingRunnerSchema } from '@automation/contract/execution/v1/starting_runner'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import type { RunnerPod } from './plan.ts'
import { runnerNameOf } from './runner-pod.ts'

// They are told twice a second.
const most = 20
const maxWords = 300

/** The pods whose runner has not come to execution, those that were made first, and what each waits for. Pure. */
export function startingRunners(pods: RunnerPod[]): MessageInitShape<typeof StartingRunnerSchema>[] {
  const starting = pods.filter(({ wasHeard, deleting }) => !wasHeard && !deleting)
  return starting
    .toSorted((a, b) => a.createdAt - b.createdAt)
    .slice(0, most)
    .map((pod) => ({
      runnerName: runnerNameOf(pod),
      madeAt: timestampFromMs(pod.createdAt),
      why: whyOf(pod).replaceAll(/\s+/g, ' ').slice(0, maxWords),
    }))
}

function whyOf({ end, trouble }: RunnerPod): string {
  return end ?? trouble ?? 'its container runs, and its runner has not come to execution yet'
}
