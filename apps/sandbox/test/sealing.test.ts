import { SealingService } from '@automation/contract/sandbox/v1/sealing'
import { InProcessNetwork } from '@automation/rpc'
import { operatorContext, refusal, serviceContext, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MemoryDriver } from './memory-driver.ts'
import { SandboxesUnderTest, type Replica } from './sandboxes-under-test.ts'

const formerKey = 'the former key of these tests'
const newKey = 'the new key of these tests'
const driver = new MemoryDriver(true)
let under: SandboxesUnderTest

beforeAll(async () => {
  under = await SandboxesUnderTest.open()
})
afterAll(() => under.close())

const withKeys = (...encryptionKeys: string[]) => under.replica(driver, { encryptionKeys })

function reseal({ part }: Replica<MemoryDriver>, context = operatorContext()) {
  const network = new InProcessNetwork()
  network.add(part.serves)
  return network.client(SealingService).reseal({ limit: 100 }, context)
}

test('keys of sandboxes outlive the key that they were sealed with, once they are sealed anew', async () => {
  const former = await withKeys(formerKey)
  const { id, grpcApiKey } = await former.sandboxes.createSandbox({ imageId: 'base' }, userContext('demo'))
  const route = await former.routes.resolveKey({ grpcApiKey }, serviceContext('gateway'))
  await former.part.stop(0)

  await expect(withKeys(newKey)).rejects.toMatchObject({ code: 'encryption_key_missing' })
  const both = await withKeys(newKey, formerKey)
  expect((await reseal(both)).secrets).toMatchObject([{ kind: 'sandboxes', total: 1n, onOlderKeys: 0n }])
  await both.part.stop(0)

  const alone = await withKeys(newKey)
  expect(await alone.sandboxes.getSandbox({ id }, userContext('demo'))).toMatchObject({ grpcApiKey })
  expect(await alone.routes.resolveKey({ grpcApiKey }, serviceContext('gateway'))).toEqual(route)
  expect(await refusal(reseal(alone, userContext('demo')))).toBe('permission_denied')
})
