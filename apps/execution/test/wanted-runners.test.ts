import { describe, expect, test } from 'vitest'
import { wantedRunners } from '../src/dispatch/wanted-runners.ts'

type Runner = [team: string, running: number, stays?: 'stays']

const wanted = (oneTeam: boolean, runners: Runner[], waiting: [team: string, runs: number][], most = Infinity) =>
  wantedRunners({
    runners: runners.map(([team, running, stays]) => ({
      oneTeam,
      team,
      running,
      slots: 10,
      retires: stays === undefined,
    })),
    waiting: waiting.map(([team, runs]) => ({ team, runs })),
    mostOf: () => most,
  })

test('a pool without runners wants one for whatever waits: what one takes is not known yet', () => {
  expect(wanted(true, [], [])).toBe(0)
  expect(
    wanted(
      true,
      [],
      [
        ['a', 25],
        ['b', 1],
      ],
    ),
  ).toBe(1)
})

describe('of runners that serve one team each', () => {
  test.each<[string, Runner[], [string, number][], number]>([
    [
      'none while nothing happens',
      [
        ['', 0],
        ['a', 0],
      ],
      [],
      0,
    ],
    [
      'one for each team that waits',
      [['', 0]],
      [
        ['a', 1],
        ['b', 1],
        ['c', 1],
      ],
      3,
    ],
    ['as many as its runs fill for a team', [['', 0]], [['a', 25]], 3],
    [
      'those that are busy, however little',
      [
        ['a', 1],
        ['a', 1],
        ['b', 1],
      ],
      [],
      3,
    ],
    ['one beside what stays another team’s', [['b', 0, 'stays']], [['a', 1]], 2],
    ['one that stays a team’s for that team', [['a', 0, 'stays']], [['a', 1]], 1],
    ['no further one where one of the team has room', [['a', 3]], [['a', 7]], 1],
    [
      'none for a team whose runner is idle, but that',
      [
        ['a', 0],
        ['b', 0],
      ],
      [['a', 2]],
      1,
    ],
    ['one more, and one that stays for newcomers, where it is full', [['a', 10]], [['a', 1]], 3],
    [
      'none in reserve once the team has what it wants',
      [
        ['a', 10],
        ['a', 1],
      ],
      [],
      2,
    ],
  ])('a pool wants %s', (_, runners, waiting, count) => {
    expect(wanted(true, runners, waiting)).toBe(count)
  })

  test('a pool wants no more for a team than it may have', () => {
    expect(wanted(true, [['a', 10]], [['a', 500]], 1)).toBe(1)
    expect(
      wanted(
        true,
        [['a', 10]],
        [
          ['a', 500],
          ['b', 500],
        ],
        2,
      ),
    ).toBe(5)
  })
})

test('of runners that serve many teams, a pool wants those that what runs and waits fills', () => {
  expect(
    wanted(
      false,
      [
        ['', 4],
        ['', 4],
      ],
      [],
    ),
  ).toBe(1)
  expect(
    wanted(
      false,
      [['', 10]],
      [
        ['a', 1],
        ['b', 1],
        ['c', 1],
      ],
    ),
  ).toBe(2)
  expect(wanted(false, [['', 0]], [])).toBe(0)
})
