import type { Registry } from '@automation/service'
import { Counter, Gauge } from 'prom-client'
import type { RunnerPod } from './plan.ts'

export interface PoolMetrics {
  seen(pods: RunnerPod[], waiting: number): void
  /** Another replica counts them. */
  forget(): void
  made(): void
  failed(): void
}

const states = ['starting', 'spare', 'bound', 'ending'] as const

/** The metrics of runner pods, in the registry of the process. */
export function poolMetrics(registry: Registry): PoolMetrics {
  const registers = [registry]
  const help = 'Runner pods by what they are for'
  const pods = new Gauge({ name: 'runner_pods', help, labelNames: ['state'], registers })
  const waits = 'Teams with runs that wait for a slot'
  const waitingTeams = new Gauge({ name: 'runner_pods_waiting_teams', help: waits, registers })
  const made = new Counter({ name: 'runner_pods_made_total', help: 'Runner pods that were made', registers })
  const whatFailed = 'Runner pods that could not be made, or ended before execution knew them'
  const failed = new Counter({ name: 'runner_pods_failed_total', help: whatFailed, registers })
  return {
    seen(there, waiting) {
      for (const state of states) pods.set({ state }, there.filter((pod) => stateOf(pod) === state).length)
      waitingTeams.set(waiting)
    },
    forget() {
      pods.reset()
      waitingTeams.reset()
    },
    made: () => made.inc(),
    failed: () => failed.inc(),
  }
}

function stateOf({ deleting, end, session }: RunnerPod): (typeof states)[number] {
  if (deleting || end !== undefined) return 'ending'
  if (session === undefined) return 'starting'
  return session.team === '' ? 'spare' : 'bound'
}
