import { eventBusConformance, type BusUnderTest } from '@automation/testing'
import { nothing } from './scripted-runner.ts'
import { System } from './system.ts'

/** Executions with three events each: CREATED, RUNNING, FINISHED. */
async function open(): Promise<BusUnderTest> {
  const system = await System.start({ teamMaxRunning: 1000 }, 2)
  const [here, there] = system.replicas
  await system.runner({ places: 400, runs: () => nothing })
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

eventBusConformance('the bus over the timeline', open)
