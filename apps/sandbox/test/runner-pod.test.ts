import { Environment } from '@automation/service'
import { expect, test } from 'vitest'
import { readClusterPlace } from '../src/cluster/place.ts'
import { readRunnerPodsConfig } from '../src/runner-pods/config.ts'
import { runnerPod } from '../src/runner-pods/runner-pod.ts'

test('the pod of a runner is told where execution and storage are, and has its key as a file', () => {
  const env = new Environment({
    RUNNER_PODS_IMAGE: 'runner:1',
    RUNNER_PODS_SECRET: 'runner-key',
    EXECUTION_ADDRESSES: 'execution-0:9102,execution-1:9102',
    STORAGE_ADDRESS: 'storage:9104',
  })
  const { pod } = readRunnerPodsConfig(env, readClusterPlace(env))!
  env.check()
  const [container] = runnerPod('one', pod).spec!.containers
  const told = Object.fromEntries(container!.env!.map(({ name, value }) => [name, value]))
  expect(told).toMatchObject({
    EXECUTION_ADDRESSES: 'execution-0:9102,execution-1:9102',
    STORAGE_ADDRESS: 'storage:9104',
    RUNNER_KEY_FILE: expect.stringMatching(/^\//),
  })
  expect(told).not.toHaveProperty('RUNNER_KEY')
})
