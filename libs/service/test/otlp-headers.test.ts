import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, traceReceiver } from '@automation/testing'
import { describe, expect, test } from 'vitest'
import { Environment } from '../src/environment.ts'
import { readOtlpHeaders } from '../src/otlp-headers.ts'
import { openTracer } from '../src/program.ts'

describe('headers for who takes traces', () => {
  test('come from a file with each request, and are shown to nobody', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'headers-'))
    const path = join(folder, 'headers')
    await writeFile(path, 'Authorization=Basic%20dGhlOnRva2Vu==, x-tenant=one\n')
    const env = new Environment({ OTEL_EXPORTER_OTLP_HEADERS_FILE: path })
    const receiver = await traceReceiver()
    try {
      const headers = readOtlpHeaders(env)
      env.check()
      const tracer = await openTracer({ endpoint: receiver.endpoint, headers, service: 'a', logger: silentLogger })
      tracer.start('one', { kind: 'internal' }).end()
      await tracer.close()
      expect(receiver.headers).toMatchObject([{ authorization: 'Basic dGhlOnRva2Vu==', 'x-tenant': 'one' }])
      expect(JSON.stringify(env.settings())).not.toContain('dGhl')
    } finally {
      await receiver.close()
      await rm(folder, { recursive: true })
    }
  })

  test.each(['the-token', '=the-token', 'a b=the-token', 'a=the-token%0d%0ab', 'a=%the-token', 'a='])(
    'that can be none are a fault which tells nothing of them: %s',
    (text) => {
      const env = new Environment({ OTEL_EXPORTER_OTLP_HEADERS: `one=two,${text}` })
      readOtlpHeaders(env)
      expect(env.faults()).toEqual([expect.stringMatching(/^OTEL_EXPORTER_OTLP_HEADERS must be name=value/)])
      expect(env.faults().join()).not.toContain('the-token')
    },
  )

  test('need not be there', () => {
    expect(readOtlpHeaders(new Environment({}))).toEqual({})
  })
})
