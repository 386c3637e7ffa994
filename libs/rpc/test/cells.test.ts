import { teamMoved } from '@automation/errors'
import type { ServedPort } from '@automation/rpc/wire'
import { onTestFinished, expect, test } from 'vitest'
import { ProbeService } from './probe/probe_pb.ts'
import { call, handlers, networkTo, serveProbe, user } from './shapes.ts'

/** Of a team that is in no cell for the moment. */
const between = 'between'

const of = (team: string) => call({ principal: { ...user, team } })

/** Two cells, with the teams that they have; who asks knows what `known` says until it looks anew. */
async function serveCells(teams: Record<string, string>) {
  const served: ServedPort[] = []
  const known = { ...teams }
  const answer = (cell: string) => (team: string) => {
    if (team !== '' && teams[team] !== cell) throw teamMoved()
    return { text: cell }
  }
  for (const cell of ['', 'blue']) {
    const answered = answer(cell)
    const probe = handlers({
      ask: (_, { principal }) => answered(principal.team),
      look: (_, { principal }) => answered(principal.team),
      count: async function* (_, { principal }) {
        yield answered(principal.team)
      },
    })
    served.push(await serveProbe(probe))
  }
  const [first, blue] = served.map(({ port }) => [`127.0.0.1:${port}`])
  const network = networkTo([], {
    byTeam: ['probe'],
    addresses: { probe: first!, 'probe@blue': blue! },
    cells: {
      of: (team) => known[team] ?? '',
      look: async () => {
        for (const [team, cell] of Object.entries(teams)) if (cell !== between) known[team] = cell
      },
    },
  })
  onTestFinished(async () => {
    network.close()
    await Promise.all(served.map((one) => one.close(0)))
  })
  return { network, probe: network.client(ProbeService), teams }
}

test('a call goes to the cell of its team, and one of no team to the first', async () => {
  const { probe } = await serveCells({ west: 'blue', east: '' })
  for (const [team, cell] of [
    ['west', 'blue'],
    ['east', ''],
    ['', ''],
  ] as const) {
    expect((await probe.ask({}, of(team))).text).toBe(cell)
    expect((await probe.look({}, of(team))).text).toBe(cell)
    for await (const { text } of probe.count({}, of(team))) expect(text).toBe(cell)
  }
})

test('a call that comes to a cell which the team has left goes to where it is now', async () => {
  const { probe, teams } = await serveCells({ west: '' })
  expect((await probe.ask({}, of('west'))).text).toBe('')
  teams['west'] = 'blue'
  expect((await probe.ask({}, of('west'))).text).toBe('blue')
  teams['west'] = ''
  expect((await probe.look({}, of('west'))).text).toBe('')
})

test('a call waits for a team that is between two cells no longer than its deadline', async () => {
  const { probe, teams } = await serveCells({ west: '' })
  teams['west'] = between
  const waiting = probe.ask({}, { ...of('west'), deadlineMs: Date.now() + 1000 })
  await expect(waiting).rejects.toMatchObject({ code: 'team_moved' })
})

test('what is of no team is asked of each cell', async () => {
  const { network } = await serveCells({})
  const answers = [...network.inCells(ProbeService)].map(async ([name, ofCell]) => [
    name,
    (await ofCell.ask({}, of(''))).text,
  ])
  expect(await Promise.all(answers)).toEqual([
    ['', ''],
    ['blue', 'blue'],
  ])
})
