import { Environment } from '@automation/service'
import { describe, expect, test } from 'vitest'
import { candidates, chooseIsolation, describeIsolation, readIsolationConfig, type Trial } from '../src/index.ts'

const isolationOf = (settings: Record<string, string>) => readIsolationConfig(new Environment(settings))

describe('which isolation level', () => {
  test('the best comes first, and a network of its own only where a helper leads it out', () => {
    const names = (settings: Record<string, string>, ...helpers: string[]) =>
      candidates(isolationOf(settings), helpers).map(({ level, network }) => `${level}/${network}`)
    expect(names({}, '/bin/pasta')).toEqual(['namespaces/own', 'namespaces/host', 'pod/host', 'none/host'])
    expect(names({})).toEqual(['namespaces/host', 'pod/host', 'none/host'])
    expect(names({ ISOLATION: 'namespaces', ISOLATION_NETWORK: 'host' }, '/bin/pasta')).toEqual(['namespaces/host'])
    expect(names({ ISOLATION_NETWORK: 'own' }, '/bin/pasta')).toEqual(['namespaces/own', 'pod/host', 'none/host'])
    expect(names({ ISOLATION: 'pod' }, '/bin/pasta')).toEqual(['pod/host'])
  })

  test('one that does not hold is passed over, and said why', async () => {
    const isolation = await chooseIsolation(isolationOf({}), [], async ({ level: name }) =>
      name === 'namespaces' ? { why: 'clone: Operation not permitted' } : { open: ['the network'] },
    )
    expect(isolation).toMatchObject({
      level: 'pod',
      oneTeam: true,
      remedy: expect.stringMatching(/^the isolation is pod: let/),
    })
    expect(isolation.tried).toEqual([{ level: 'namespaces, host network', why: 'clone: Operation not permitted' }])
    expect(describeIsolation(isolation)).toMatch(
      /^pod; serves one team, as the isolation .* open: the network; namespaces, host network does not hold: clone: Operation not permitted$/,
    )
  })

  test.for(['a child did not start in time', 'a child did not come in time', 'the helper was not ready in time'])(
    'one that fails for time (%s) is tried once more, and then passed over',
    async (why) => {
      const chosen = async (...trials: Trial[]) => {
        const asked: string[] = []
        const { level, tried } = await chooseIsolation(isolationOf({}), [], async (candidate) => {
          asked.push(candidate.level)
          return trials.shift() ?? { open: [] }
        })
        return { level, asked: asked.join(), lost: tried.length }
      }
      expect(await chosen({ why })).toEqual({ level: 'namespaces', asked: 'namespaces,namespaces', lost: 0 })
      expect(await chosen({ why }, { why })).toEqual({ level: 'pod', asked: 'namespaces,namespaces,pod', lost: 1 })
      const refused = { why: 'clone: Operation not permitted' }
      expect(await chosen(refused)).toEqual({ level: 'pod', asked: 'namespaces,pod', lost: 1 })
    },
  )

  test('one that is forced and does not hold is a failed start, in words', async () => {
    const forced = chooseIsolation(isolationOf({ ISOLATION: 'namespaces' }), [], async () => ({ why: 'not permitted' }))
    await expect(forced).rejects.toThrow(/^ISOLATION=namespaces does not hold here.*not permitted.*ISOLATION=auto/)
  })

  const own = ['/bin/pasta']
  test.for([
    ['namespaces', own, {}, false],
    ['namespaces', [], {}, true],
    ['namespaces', own, { ISOLATION_NETWORK: 'host' }, true],
    ['namespaces', [], { ISOLATION_MANY_TEAMS: 'true' }, false],
    ['pod', own, {}, true],
    ['none', own, {}, true],
    ['none', own, { ISOLATION_MANY_TEAMS: 'true' }, false],
  ] as const)('%s with the helpers %j and %j serves one team: %s', async ([name, helpers, settings, oneTeam]) => {
    const config = isolationOf({ ISOLATION: name, ...settings })
    const isolation = await chooseIsolation(config, [...helpers], async () => ({ open: [] }))
    expect(isolation.oneTeam).toBe(oneTeam)
  })

  test('one that parts no networks serves one team, and says what to install', async () => {
    const open = { open: [] }
    const remedyWith = async (helpers: string[], settings: Record<string, string> = {}) =>
      (
        await chooseIsolation(isolationOf(settings), helpers, async ({ network }) =>
          network === 'own' ? { why: 'EPERM' } : open,
        )
      ).remedy
    const anyway = 'or set ISOLATION_MANY_TEAMS=true where teams trust each other'
    expect(await remedyWith([])).toBe(
      `runs have no network of their own: install slirp4netns or passt on the machine of the runner, ${anyway}`,
    )
    expect(await remedyWith(own)).toBe(
      `runs have no network of their own: namespaces, own network (pasta) does not hold: EPERM, ${anyway}`,
    )
    expect(await remedyWith(own, { ISOLATION_NETWORK: 'host' })).toBe(
      `runs have no network of their own: set ISOLATION_NETWORK=auto, ${anyway}`,
    )
  })

  test('one whose children have but their loopback serves many teams', async () => {
    expect(await chooseIsolation(isolationOf({}), [], async () => ({ open: [] }), true)).toMatchObject({
      oneTeam: false,
    })
  })

  test('settings that are none are refused', () => {
    const env = new Environment({ ISOLATION: 'high', EGRESS_ALLOW: '10.0.0.0/40', RUNNER_CLOSED_PORTS: '80x' })
    readIsolationConfig(env)
    expect(() => env.check()).toThrow(/ISOLATION must be.*EGRESS_ALLOW has.*RUNNER_CLOSED_PORTS has/s)
  })
})
