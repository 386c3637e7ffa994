import type { Random } from '@automation/testing/random'
import type { Shape } from '../system/system.ts'

/** A way to kill: the processes that are hit, or the fail point at which one of them kills itself. */
export type Strike =
  | { kind: 'all' }
  /** Only the process with this command line; what it started is left behind. */
  | { kind: 'one'; command: RegExp; name: string }
  | { kind: 'fail point'; point: string; pass: number; command: RegExp }

interface FailPoint {
  /** The service that passes it. */
  service: 'execution' | 'runner' | 'process-catalog' | 'scheduler'
  /** It is armed for a pass from 1 to this. */
  passes: number
}

/** The named instants of the engine. */
export const failPoints: Record<string, FailPoint> = {
  'start-before-commit': { service: 'execution', passes: 20 },
  'start-after-commit': { service: 'execution', passes: 20 },
  'assign-before': { service: 'execution', passes: 20 },
  'assign-after': { service: 'execution', passes: 20 },
  'claim-after-commit': { service: 'execution', passes: 4 },
  'end-before-commit': { service: 'execution', passes: 20 },
  'end-after-commit': { service: 'execution', passes: 20 },
  'result-before-send': { service: 'runner', passes: 20 },
  'child-started': { service: 'runner', passes: 4 },
  'logs-before-commit': { service: 'execution', passes: 4 },
  'kill-after-commit': { service: 'execution', passes: 2 },
  'delete-after-tombstone': { service: 'process-catalog', passes: 1 },
  'delete-after-schedules': { service: 'process-catalog', passes: 1 },
  'delete-after-executions': { service: 'process-catalog', passes: 1 },
  'delete-before-end': { service: 'process-catalog', passes: 1 },
  'firings-after-commit': { service: 'scheduler', passes: 3 },
  'firing-before-start': { service: 'scheduler', passes: 4 },
  'firing-after-start': { service: 'scheduler', passes: 4 },
  'renew-before': { service: 'execution', passes: 4 },
}

const victims: Record<Shape, readonly string[]> = {
  embedded: ['embedded', 'embedded', 'embedded', 'postgres'],
  services: [
    'execution',
    'execution',
    'runner',
    'runner',
    'gateway',
    'process-catalog',
    'scheduler',
    'storage',
    'sandbox',
    'postgres',
  ],
}

/** Names of fail points: every one comes once before one comes again. */
export function* failPointsInTurn(random: Random): Generator<string, never> {
  for (;;) yield* shuffled(Object.keys(failPoints), random)
}

/**
 * The strikes of a campaign, as many as wanted. A fail point needs a start of its own, so one that is due (`points`) takes turns
 * with a strike on what runs.
 */
export function planStrikes(count: number, shape: Shape, random: Random, points: Iterator<string, never>): Strike[] {
  const strikes: Strike[] = []
  while (strikes.length < count) {
    const point = points.next().value
    const { service, passes } = failPoints[point] ?? { service: 'execution', passes: 1 }
    const command = commandOf(shape === 'embedded' ? 'embedded' : service)
    strikes.push({ kind: 'fail point', point, pass: random.between(1, passes), command })
    const name = random.pick(victims[shape])
    if (random.happens(0.6)) strikes.push({ kind: 'one', command: commandOf(name), name })
    else strikes.push({ kind: 'all' })
  }
  return strikes.slice(0, count)
}

/** Whether the strike ends the runner, and with it every run. */
export function hitsRunner(strike: Strike): boolean {
  return (
    strike.kind === 'all' ||
    strike.command.test('apps/runner/src/main.ts') ||
    strike.command.test('apps/embedded/src/main.ts')
  )
}

/** A strike in a few words. */
export function nameOf(strike: Strike): string {
  if (strike.kind === 'all') return 'all processes'
  return strike.kind === 'one' ? `one: ${strike.name}` : `at ${strike.point}`
}

function commandOf(name: string): RegExp {
  return name === 'postgres' ? /^\S*bin\/postgres -D/ : new RegExp(`apps/${name}/src/main\\.ts`)
}

function shuffled<T>(items: T[], random: Random): T[] {
  return items
    .map((item) => ({ item, rank: random.next() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}
