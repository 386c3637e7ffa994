import { afterEach, expect, test, vi } from 'vitest'
import { signer, verifier } from '../src/credentials.ts'
import type { Principal } from '../src/context.ts'

const internalKey = 'a key that services share, for tests of clocks'
const principal: Principal = { role: 'service', team: '', subject: 'execution', name: 'execution' }
const hourMs = 3_600_000

afterEach(() => {
  vi.useRealTimers()
})

test.for([hourMs, -hourMs])(
  'a service whose clock was %d ms ahead is believed as soon as it is right again',
  async (byMs) => {
    const sign = signer({ internalKey })
    const verify = verifier({ internalKey })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + byMs })
    await sign(principal)
    vi.useRealTimers()
    expect(
      await verify(await sign(principal), 'automation.execution.v1.ExecutionService', 'GetExecution'),
    ).toMatchObject(principal)
  },
)
