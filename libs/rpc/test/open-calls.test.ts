import { served } from '@automation/rpc'
import { serve } from '@automation/rpc/wire'
import { silentLogger, until } from '@automation/testing'
import { expect, test } from 'vitest'
import { ProbeService } from './probe/probe_pb.ts'
import { call, handlers, internalKey, networkTo } from './shapes.ts'

test('calls that are open are counted by method, however they end', async () => {
  const open = new Map<string, number>()
  const openCalls = (service: string, method: string) => {
    const add = (count: number) => open.set(method, (open.get(method) ?? 0) + count)
    expect(service).toBe(ProbeService.typeName)
    return { inc: () => void add(1), dec: () => void add(-1) }
  }
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const implementation = handlers({
    ask: () => answered.then(() => ({})),
    look: () => Promise.reject(new Error('it fails')),
    async *count() {
      yield {}
      await answered
    },
  })
  const options = { host: '127.0.0.1', port: 0, internalKey, maxMessageBytes: 1000, logger: silentLogger, openCalls }
  const port = await serve([served(ProbeService, implementation)], options)
  const network = networkTo([port.port])
  const probe = network.client(ProbeService)
  const calls = [probe.ask({}, call()), probe.ask({}, call()), Array.fromAsync(probe.count({}, call()))]
  await until(() => open.get('Ask') === 2 && open.get('Count') === 1)
  await expect(probe.look({}, call())).rejects.toMatchObject({ kind: 'internal' })
  answer()
  await Promise.all(calls)
  await until(() => [...open.values()].every((count) => count === 0))
  expect([...open.keys()].toSorted()).toEqual(['Ask', 'Count', 'Look'])
  network.close()
  await port.close(0)
})
