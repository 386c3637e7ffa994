import { Environment } from '@automation/service'
import { expect, test } from 'vitest'
import { readPodsFile } from '../src/cluster/config.ts'
import { readRunnerPodsConfig } from '../src/runner-pods/config.ts'
import { runnerPod } from '../src/runner-pods/runner-pod.ts'
import { podsFile } from './pods-file.ts'

test('the pod of a runner is told where execution and storage are, and has its key as a file', () => {
  const env = new Environment({
    KUBERNETES_PODS: podsFile({}, { image: 'runner:1', secret: 'runner-key' }),
    SERVICE_ADDRESSES: 'execution=execution-0:9102,execution=execution-1:9102,storage=storage:9104',
  })
  const { pod } = readRunnerPodsConfig(env, readPodsFile(env))!
  env.check()
  const [container] = runnerPod('one', pod).spec!.containers
  const variables = Object.fromEntries(container!.env!.map(({ name, value }) => [name, value]))
  expect(variables).toMatchObject({
    SERVICE_ADDRESSES: 'execution=execution-0:9102,execution=execution-1:9102,storage=storage:9104',
    RUNNER_KEY_FILE: expect.stringMatching(/^\//),
  })
  expect(variables).not.toHaveProperty('RUNNER_KEY')
})

test('what is wrong in the file of runner pods is told, all of it', () => {
  const members = { image: 'runner:1', max: 0, memory: 'much', pullSecrets: 'one', nodeSelector: { a: 1 }, slots: 3 }
  const env = new Environment({ KUBERNETES_PODS: podsFile({ instance: 'A', size: 1 }, members) })
  readRunnerPodsConfig(env, readPodsFile(env))
  const faults = env.faults().map((fault) => fault.replace(/^KUBERNETES_PODS names \S+, /, ''))
  expect(faults).toEqual([
    'whose member size is not known',
    'whose instance must be 1 to 53 of a-z, 0-9 and inner hyphens',
    'whose runners.pullSecrets must be a list of texts',
    'whose runners.nodeSelector must be an object of texts',
    'whose runners.slots is not known',
    'whose runners.max must be a whole number from 1 to 1000, not "0"',
    'whose runners.secret must name the Secret with the entry RUNNER_KEY',
    'whose runners.memory must be an amount such as 2Gi, not "much"',
  ])
})
