import { Environment, type ConfigurationError } from '@automation/service'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readExecutionConfig } from '../src/config.ts'
import { Egress } from '../src/react/egress.ts'

const hostOf = (url: string) => new URL(url).hostname

test('addresses that are not of the public internet are not allowed, however they are written', () => {
  const egress = new Egress([])
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '017700000001',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.100.100.200',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:10.0.0.1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    'metadata.google.internal',
  ])
    expect([host, egress.allows(hostOf(`http://${host}/`))]).toEqual([host, false])
  for (const host of ['example.org', '93.184.216.34', '[2606:4700::1111]', '[::ffff:8.8.8.8]'])
    expect([host, egress.allows(hostOf(`http://${host}/`))]).toEqual([host, true])
})

test('what EGRESS_ALLOW names is allowed, and nothing beside it', () => {
  const egress = new Egress(['10.0.0.0/8', 'fd00::/8', '127.0.0.1'])
  for (const host of ['10.255.0.1', '127.0.0.1', '[fd12::1]', '[::ffff:10.0.0.1]', 'localhost'])
    expect([host, egress.allows(hostOf(`http://${host}/`))]).toEqual([host, true])
  for (const host of ['11.0.0.1', '127.0.0.2', '192.168.0.1'])
    expect([host, egress.allows(hostOf(`http://${host}/`))]).toEqual([host, host === '11.0.0.1'])
  fc.assert(fc.property(fc.ipV4(), (host) => host.startsWith('10.') === egress.allows(host) || !host.startsWith('10.')))
})

test('a run has no more time by default than any may have', () => {
  const { runTimeoutMs } = readExecutionConfig(new Environment({ RUN_TIMEOUT_MAX_MS: '20000' }))
  expect(runTimeoutMs).toBe(20_000)
})

test('all faults of the settings are named at once', () => {
  const env = new Environment({ EGRESS_ALLOW: '10.0.0.0/33,nonsense', TEAM_MAX_RUNNING: '0', RUN_TIMEOUT_MS: '50' })
  readExecutionConfig(env)
  let faults: string[] = []
  try {
    env.check()
  } catch (error) {
    faults = (error as ConfigurationError).faults.map((fault) => fault.split(' ')[0]!)
  }
  expect(faults.toSorted()).toEqual(
    ['DATABASE_URL', 'EGRESS_ALLOW', 'EGRESS_ALLOW', 'INTERNAL_KEY', 'RUN_TIMEOUT_MS', 'TEAM_MAX_RUNNING'].toSorted(),
  )
})
