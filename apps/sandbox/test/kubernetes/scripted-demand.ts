import { RunnerDemandService, type Capacity } from '@automation/contract/runner/v1/demand'
import { InProcessNetwork, served } from '@automation/rpc'
import type { PodSeen } from '../../src/cluster/pod-seen.ts'
import { runnerNameOf } from '../../src/runner-pods/runner-pod.ts'

/** What execution would say: runners said hello in the pods that a test names. */
export class ScriptedDemand {
  waiting: string[] = []
  capacity: Capacity | undefined
  readonly runners = new Map<string, { team: string; running: number; idleMs: bigint }>()
  readonly network = new InProcessNetwork()

  constructor() {
    const getDemand = ({ capacity }: { capacity?: Capacity }) => {
      this.capacity = capacity
      const sessions = [...this.runners].map(([runnerName, runner]) => ({
        runnerName,
        oneTeam: true,
        slots: 4,
        ...runner,
      }))
      return { sessions, waiting: this.waiting.map((team) => ({ team })) }
    }
    this.network.add([served(RunnerDemandService, { getDemand })])
  }

  hello(pod: PodSeen, team = '', running = 0, idleMs = 0): void {
    this.runners.set(runnerNameOf(pod), { team, running, idleMs: BigInt(idleMs) })
  }
}
