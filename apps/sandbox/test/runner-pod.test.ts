import { Environment } from '@automation/service'
import { expect, test } from 'vitest'
import { readClusterConfig } from '../src/cluster/config.ts'
import { readRunnerPodsConfig } from '../src/runner-pods/config.ts'
import { runnerPod } from '../src/runner-pods/runner-pod.ts'
import { runnerPodsFile } from './runner-pods-file.ts'

test('the pod of a runner is told where execution and storage are, and has its key as a file', () => {
  const env = new Environment({
    RUNNER_PODS: runnerPodsFile({ image: 'runner:1', secret: 'runner-key' }),
    EXECUTION_ADDRESSES: 'execution-0:9102,execution-1:9102',
    STORAGE_ADDRESS: 'storage:9104',
  })
  const { pod } = readRunnerPodsConfig(env, readClusterConfig(env))!
  env.check()
  const [container] = runnerPod('one', pod).spec!.containers
  const variables = Object.fromEntries(container!.env!.map(({ name, value }) => [name, value]))
  expect(variables).toMatchObject({
    EXECUTION_ADDRESSES: 'execution-0:9102,execution-1:9102',
    STORAGE_ADDRESS: 'storage:9104',
    RUNNER_KEY_FILE: expect.stringMatching(/^\//),
  })
  expect(variables).not.toHaveProperty('RUNNER_KEY')
})

test('what is wrong in the file of runner pods is told, all of it', () => {
  const members = { image: 'runner:1', max: 0, memory: 'much', pullSecrets: 'one', nodeSelector: { a: 1 }, slots: 3 }
  const env = new Environment({ RUNNER_PODS: runnerPodsFile(members) })
  readRunnerPodsConfig(env, readClusterConfig(env))
  const faults = env.faults().map((fault) => fault.replace(/^RUNNER_PODS names \S+, /, ''))
  expect(faults).toEqual([
    'whose pullSecrets must be a list of texts',
    'whose nodeSelector must be an object of texts',
    'whose member slots is not known',
    'whose max must be a whole number from 1 to 1000, not "0"',
    'whose secret must name the Secret with the entry RUNNER_KEY',
    'whose memory must be an amount such as 2Gi, not "much"',
  ])
})
