import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { until } from '@automation/testing'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  admin,
  adminMain,
  embeddedMain,
  ownEnvironment,
  runProgramToEnd,
  servicesMain,
  startProgram,
  type Values,
} from './started.ts'

let values: Values

beforeEach(async () => {
  const own = await ownEnvironment()
  values = own.values
  return own.remove
})

describe.each([embeddedMain, servicesMain])('%s', (main) => {
  test('all faults of all parts are shown at once, and nothing is started', async () => {
    const faulty = {
      ...values,
      PORT: 'x',
      BOOTSTRAP_TEAM: 'No Team',
      ACCESS_TOKEN_TTL_S: '0',
      TEAM_MAX_RUNNING: '-1',
      RUNNER_SLOTS: 'many',
      HEADER_PREFIX: '!',
      LOG_LEVEL: 'loud',
      AGENT_POOLS: 'default,No Pool',
      RUNNER_POOL: 'big',
      RETENTION_DAYS: '0',
      SHUTDOWN_GRACE_MS: '-1',
      DATABASE_URL: 'host=localhost dbname=x',
      INTERNAL_KEY: 'short',
    }
    const { code, stderr, stdout } = await runProgramToEnd(main, faulty)
    expect(code).not.toBe(0)
    expect(stdout).toBe('')
    for (const name of [
      'PORT',
      'BOOTSTRAP_TEAM',
      'ACCESS_TOKEN_TTL_S',
      'TEAM_MAX_RUNNING',
      'RUNNER_SLOTS',
      'HEADER_PREFIX',
      'LOG_LEVEL',
      'AGENT_POOLS',
      'RUNNER_POOL',
      'RETENTION_DAYS',
      'SHUTDOWN_GRACE_MS',
      'DATABASE_URL',
    ])
      expect(stderr).toContain(`  ${name} must`)
    for (const name of ['PORT', 'RETENTION_DAYS', 'SHUTDOWN_GRACE_MS', 'DATABASE_URL'])
      expect(stderr.match(new RegExp(`  ${name} must`, 'g')), name).toHaveLength(1)
    expect(stderr.match(/ {2}INTERNAL_KEY /g)).toHaveLength(1)
    expect(await readdir(values['DATA_DIR'] ?? '')).toEqual([])
  })

  test('--print-config shows settings, masks secrets and starts nothing', async () => {
    const secrets = {
      ENCRYPTION_KEY: 'very-secret-encryption-key-0123456789',
      DATABASE_URL: 'postgresql://user:very-secret-password@localhost/x',
      BOOTSTRAP_API_TOKEN: `sk-${Buffer.from('sa-demo-abcdefgh:very-secret-token').toString('base64')}`,
    }
    const { code, stdout } = await runProgramToEnd(main, { ...values, ...secrets }, ['--print-config'])
    expect(code).toBe(0)
    expect(stdout).toContain(`PORT=${values['PORT']}\n`)
    expect(stdout).toContain('BOOTSTRAP_API_TOKEN=******\n')
    // Two systems of one account would remove what each other's runs use.
    expect(stdout).toContain(`RUNNER_DEPENDENCIES_DIR=${values['DATA_DIR']}/packages\n`)
    for (const line of ['S3_ENDPOINT=', 'S3_REGION=us-east-1', 'S3_ACCESS_KEY=', 'S3_SECRET_KEY='])
      expect(stdout).toContain(`\n${line}\n`)
    expect(stdout).not.toContain('very-secret')
    expect(stdout).not.toContain(secrets.BOOTSTRAP_API_TOKEN)
    expect(await readdir(values['DATA_DIR'] ?? '')).toEqual([])
  })

  test('--help explains, and an unknown argument is refused', async () => {
    expect(await runProgramToEnd(main, values, ['--help'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('--print-config'),
    })
    expect(await runProgramToEnd(main, values, ['--nonsense'])).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('services whose health port another system has', () => {
  const started = async () => {
    const [, port = ''] = /gatewayHealth=(\d+)/.exec(values['SERVICE_PORTS']!)!
    const other = createServer((_, response) => response.end('{"status":"ready","checks":[]}'))
    await once(other.listen(Number(port), '127.0.0.1'), 'listening')
    onTestFinished(() => void other.close())
    const services = startProgram(servicesMain, values)
    onTestFinished(() => void services.child.kill('SIGKILL'))
    return { port, ...services }
  }

  test('do not start, and do not take its answers for theirs', async () => {
    const { port, ended } = await started()
    const { code, stdout, stderr } = await ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`Port ${port} (gatewayHealth of SERVICE_PORTS) is taken by another program.`)
  })

  test('make nothing when they are stopped while they wait for it', async () => {
    const { child, ended } = await started()
    const folder = values['DATA_DIR']!
    await until(async () => (await readdir(folder)).includes('lock'), { timeoutMs: 20_000 })
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
    expect(await readdir(folder)).not.toContain('encryption-key')
  })
})

test('an admin command makes no system where there is none, and says where it looked', async () => {
  const { code, stdout, stderr } = await admin(values, 'teams', 'list')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(`There is no system in DATA_DIR ${values['DATA_DIR']}: npm start makes one`)
  expect(await readdir(values['DATA_DIR'] ?? '')).toEqual([])
})

test('an admin command says which database it waits for, and what to look at', async () => {
  const DATABASE_URL = 'postgres://user:very-secret-password@127.0.0.1:9/tasks'
  const { child, output } = startProgram(adminMain, { ...values, DATABASE_URL, ENCRYPTION_KEY: 'k'.repeat(32) }, [
    'teams',
    'list',
  ])
  onTestFinished(() => void child.kill('SIGKILL'))
  await until(() => output.stderr !== '', { timeoutMs: 30_000 })
  expect(output.stderr).toMatch(/^Waits for the database tasks at 127\.0\.0\.1:9: .*DATABASE_URL/)
  expect(output.stderr).not.toContain('secret')
})
