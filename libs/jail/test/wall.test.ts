import { Environment } from '@automation/service'
import { describe, expect, test } from 'vitest'
import { candidates, chooseWall, describeWall, readWallConfig, type Trial } from '../src/index.ts'

const wallOf = (settings: Record<string, string>) => readWallConfig(new Environment(settings))

describe('which wall', () => {
  test('the best comes first, and a network of its own only where a helper leads it out', () => {
    const names = (settings: Record<string, string>, ...helpers: string[]) =>
      candidates(wallOf(settings), helpers).map(({ wall, network }) => `${wall}/${network}`)
    expect(names({}, '/bin/pasta')).toEqual(['namespaces/own', 'namespaces/host', 'pod/host', 'none/host'])
    expect(names({})).toEqual(['namespaces/host', 'pod/host', 'none/host'])
    expect(names({ WALL: 'namespaces', WALL_NETWORK: 'host' }, '/bin/pasta')).toEqual(['namespaces/host'])
    expect(names({ WALL_NETWORK: 'own' }, '/bin/pasta')).toEqual(['namespaces/own', 'pod/host', 'none/host'])
    expect(names({ WALL: 'pod' }, '/bin/pasta')).toEqual(['pod/host'])
  })

  test('one that does not hold is passed over, and said why', async () => {
    const wall = await chooseWall(wallOf({}), [], async ({ wall: name }) =>
      name === 'namespaces' ? { why: 'clone: Operation not permitted' } : { open: ['the network'] },
    )
    expect(wall).toMatchObject({ wall: 'pod', oneTeam: true })
    expect(wall.tried).toEqual([{ wall: 'namespaces, host network', why: 'clone: Operation not permitted' }])
    expect(describeWall(wall)).toBe(
      'pod; serves one team; open: the network; namespaces, host network does not hold: clone: Operation not permitted',
    )
  })

  test.for(['a child did not start in time', 'a child did not come in time', 'the helper was not ready in time'])(
    'one that fails for time (%s) is tried once more, and then passed over',
    async (why) => {
      const chosen = async (...trials: Trial[]) => {
        const asked: string[] = []
        const { wall, tried } = await chooseWall(wallOf({}), [], async (candidate) => {
          asked.push(candidate.wall)
          return trials.shift() ?? { open: [] }
        })
        return { wall, asked: asked.join(), lost: tried.length }
      }
      expect(await chosen({ why })).toEqual({ wall: 'namespaces', asked: 'namespaces,namespaces', lost: 0 })
      expect(await chosen({ why }, { why })).toEqual({ wall: 'pod', asked: 'namespaces,namespaces,pod', lost: 1 })
      const refused = { why: 'clone: Operation not permitted' }
      expect(await chosen(refused)).toEqual({ wall: 'pod', asked: 'namespaces,pod', lost: 1 })
    },
  )

  test('one that is forced and does not hold is a failed start, in words', async () => {
    const forced = chooseWall(wallOf({ WALL: 'namespaces' }), [], async () => ({ why: 'not permitted' }))
    await expect(forced).rejects.toThrow(/^WALL=namespaces does not hold here.*not permitted.*WALL=auto/)
  })

  test.for([
    ['namespaces', {}, false],
    ['pod', {}, true],
    ['none', {}, true],
    ['none', { WALL_NONE_MANY_TEAMS: 'true' }, false],
  ] as const)('%s with %j serves one team: %s', async ([name, settings, oneTeam]) => {
    const wall = await chooseWall(wallOf({ WALL: name, ...settings }), [], async () => ({ open: [] }))
    expect(wall.oneTeam).toBe(oneTeam)
  })

  test('settings that are none are refused', () => {
    const env = new Environment({ WALL: 'high', EGRESS_ALLOW: '10.0.0.0/40', RUNNER_CLOSED_PORTS: '80x' })
    readWallConfig(env)
    expect(() => env.check()).toThrow(/WALL must be.*EGRESS_ALLOW has.*RUNNER_CLOSED_PORTS has/s)
  })
})
