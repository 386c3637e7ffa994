import type { KafkaConfig } from '@automation/events'
import type { BusUnderTest } from '@automation/testing'
import { nothing } from './scripted-runner.ts'
import { System } from './system.ts'

/** Two replicas whose executions have three events each: CREATED, RUNNING, FINISHED. */
export async function openBus(kafka?: KafkaConfig): Promise<BusUnderTest> {
  const system = await System.start({ teamMaxRunning: 1000, kafka }, 2)
  const [here, there] = system.replicas
  await system.runner({ slots: 400, runs: () => nothing })
  return {
    bus: here!.part.events,
    other: async () => there!.part.events,
    produce: async (executions) => {
      const started = await Promise.all(Array.from({ length: executions }, () => system.run()))
      return started.map(({ executionId }) => executionId)
    },
    close: () => system.stop(),
  }
}
