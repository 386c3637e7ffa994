import { once } from 'node:events'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { ownTeam, type OwnTeam } from './own-team.ts'
import { Workspace } from './workspace.ts'

/**
 * Two editors with a clone each, and somebody at the server, change lines of a few processes; every edit writes a mark that no
 * other edit has. A push may take a mark from the server only where the history of its clone has it, a pull may take none from
 * the files unless it says so.
 */
let system: OwnTeam
beforeAll(async () => {
  system = await ownTeam('two-editors')
  return system.leave
}, 150_000)

const runs = Number(globalThis.process.env['PROJECT_RUNS'] ?? 5)
const processes = 3
const lines = 4

type Step =
  | { do: 'edit' | 'server'; who: number; process: number; line: number }
  | { do: 'remove' | 'serverRemove' | 'serverMake'; who: number; process: number }
  | { do: 'push' | 'pull' | 'sync' | 'prune' | 'discard'; who: number }
  | { do: 'kill'; who: number; afterItems: number }

const who = fc.nat(1)
const process = fc.nat(processes - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('edit', 'server'), who, process, line: fc.nat(lines - 1) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('push', 'pull', 'sync'), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('remove', 'serverRemove', 'serverMake'), who, process }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('prune', 'discard'), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('kill'), who, afterItems: fc.nat(2) }) },
) as fc.Arbitrary<Step>

let worlds = 0
let marks = 0

/** Clones of one repository whose first commit is pushed, and what is on the server of it. */
class World {
  readonly slugs: string[]
  readonly editors: [Workspace, Workspace]
  /** Marks that the server has ever had. */
  readonly served = new Set<string>()

  private constructor(slugs: string[], editors: [Workspace, Workspace]) {
    this.slugs = slugs
    this.editors = editors
  }

  static async make(): Promise<World> {
    worlds += 1
    const slugs = Array.from({ length: processes }, (_, index) => `w${worlds}-p${index}`)
    const first = await Workspace.make(system)
    for (const slug of slugs) await first.write(fileOf(slug), emptySource())
    await first.commit('first')
    expect(await first.pas('push', '--yes')).toMatchObject({ code: 0 })
    return new World(slugs, [first, await Workspace.make(system, first)])
  }

  /** Sources on the server; undefined where there is no such process. */
  onServer(): Promise<(string | undefined)[]> {
    return Promise.all(this.slugs.map(serverSource))
  }

  inFiles(editor: Workspace): Promise<(string | undefined)[]> {
    return Promise.all(this.slugs.map((slug) => editor.read(fileOf(slug))))
  }
}

const fileOf = (slug: string) => `processes/${slug}/main.js`

async function serverSource(slug: string): Promise<string | undefined> {
  return system.client.processes.get(slug).then(
    ({ sourceCode }) => sourceCode,
    (error: { status?: number }) => {
      if (error.status === 404) return undefined
      throw error
    },
  )
}

const marksIn = (sources: readonly (string | undefined)[]) => sources.join('\n').match(/mark\d+\./g) ?? []

const emptySource = () =>
  Array.from({ length: lines }, (_, index) => `// line ${index}\n// between\n// between\n`).join('')

function edited(source: string, line: number, mark: string): string {
  const all = source.split('\n')
  const at = all.findIndex((text) => text.startsWith(`// line ${line}`))
  // A line that somebody has replaced by hand is put at the end.
  if (at === -1) return `${source}// line ${line} ${mark}\n`
  all[at] = `// line ${line} ${mark}`
  return all.join('\n')
}

async function take(world: World, step: Step): Promise<void> {
  const editor = world.editors[step.who]!
  const slug = 'process' in step ? world.slugs[step.process]! : ''
  const mark = `mark${(marks += 1)}.`
  switch (step.do) {
    case 'edit': {
      const source = await editor.read(fileOf(slug))
      if (source === undefined) return
      await editor.write(fileOf(slug), edited(source, step.line, mark))
      return editor.commit(mark)
    }
    case 'server': {
      const source = await serverSource(slug)
      if (source === undefined) return
      await system.client.processes.update(slug, { sourceCode: edited(source, step.line, mark) })
      world.served.add(mark)
      return
    }
    case 'remove':
      if ((await editor.read(fileOf(slug))) === undefined) return
      await editor.remove(`processes/${slug}`)
      return editor.commit('removed')
    case 'serverRemove':
      if ((await serverSource(slug)) !== undefined) await system.client.processes.delete(slug)
      return
    case 'serverMake':
      if ((await serverSource(slug)) !== undefined) return
      await system.client.processes.create({ name: slug, sourceCode: edited(emptySource(), 0, mark) })
      world.served.add(mark)
      return
    case 'push':
      return push(world, editor)
    case 'prune':
      return push(world, editor, '--prune')
    case 'pull':
      return pull(world, editor)
    case 'discard':
      await editor.pas('pull')
      await editor.git('reset', '-q', '--hard')
      await editor.git('clean', '-fdq')
      return
    case 'sync':
      return sync(world, editor)
    case 'kill':
      return checked(world, editor, true, () => killedPush(editor, step.afterItems))
  }
}

async function push(world: World, editor: Workspace, ...options: string[]): Promise<void> {
  await checked(world, editor, options.length === 0, async () => {
    const { code, stderr } = await editor.pas('push', '--yes', ...options)
    expect([0, 3], stderr).toContain(code)
  })
}

/** Runs a push, and looks for what it has taken from the server. */
async function checked(world: World, editor: Workspace, keeps: boolean, work: () => Promise<void>): Promise<void> {
  const before = await world.onServer()
  await work()
  const after = await world.onServer()
  const deleted = world.slugs.filter((_, index) => before[index] !== undefined && after[index] === undefined)
  if (keeps) expect(deleted).toEqual([])
  for (const slug of deleted) expect(await editor.read(fileOf(slug))).toBeUndefined()
  const kept = new Set(marksIn(after))
  for (const mark of kept) world.served.add(mark)
  const taken = marksIn(before).filter((mark) => !kept.has(mark))
  if (taken.length === 0) return
  const history = await editor.git('log', '-p', '--full-history', '--format=', 'HEAD', '--', 'processes')
  expect(taken.filter((mark) => !history.includes(mark))).toEqual([])
}

/** Pulls; a clash is told, and the editor merges by keeping both texts. */
async function pull(world: World, editor: Workspace): Promise<void> {
  const before = await world.inFiles(editor)
  const { code, stdout, stderr } = await editor.pas('pull')
  expect([0, 3], stderr).toContain(code)
  const after = await world.inFiles(editor)
  for (const [index, slug] of world.slugs.entries()) {
    const kept = new Set(marksIn([after[index]]))
    const lost = marksIn([before[index]]).filter((mark) => !kept.has(mark))
    // What was changed or removed on the server is taken; what goes with it was on the server once.
    if (lost.length > 0) expect(stdout).toMatch(new RegExp(`^(?:took|removed|merged) +process/${slug}\\b`, 'm'))
    if (/^merged/m.test(stdout)) expect(lost.filter((mark) => !world.served.has(mark))).toEqual([])
    if (new RegExp(`^clash +process/${slug}: changed here and removed on the server`, 'm').test(stdout))
      expect(await editor.pas('pull', `processes/${slug}`, '--ours')).toMatchObject({ code: 0 })
    const left = await editor.read(`${fileOf(slug)}.remote`)
    if (left === undefined) continue
    expect(stdout).toMatch(new RegExp(`^clash +process/${slug}\\b`, 'm'))
    await editor.write(fileOf(slug), `${after[index] ?? ''}/*\n${left.replaceAll('*/', '')}*/\n`)
    await editor.remove(`${fileOf(slug)}.remote`)
  }
  await editor.commit('pulled')
}

/** Fetches what the other one has committed; git's own conflicts are settled for ours, and git keeps both histories. */
async function sync(world: World, editor: Workspace): Promise<void> {
  const other = world.editors.find((each) => each !== editor)!
  await editor.git('fetch', '-q', other.folder, 'main')
  await editor.git('merge', '-q', '-X', 'ours', '--no-edit', 'FETCH_HEAD').catch(async () => {
    // Removed by one and changed by the other: what was changed stays.
    await editor.git('add', '-A')
    await editor.git('commit', '-q', '--no-edit')
  })
}

/** Kills a push, as a process of its own, after so many items are done. */
async function killedPush(editor: Workspace, afterItems: number): Promise<void> {
  const child = editor.start('push', '--yes')
  const ended = once(child, 'exit')
  let done = 0
  const count = (chunk: Buffer) => {
    done += chunk.toString().match(/^done/gm)?.length ?? 0
    if (done >= afterItems) child.kill('SIGKILL')
  }
  child.stdout!.on('data', count)
  // The plan is on stderr: with 0 it is killed while the first items are under way.
  child.stderr!.once('data', () => count(Buffer.from('')))
  await ended
}

test(
  'no edit is lost, each clash is told, and nothing is deleted without --prune',
  { timeout: runs * 60_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), async (steps) => {
        const world = await World.make()
        const [first] = world.editors
        try {
          for (const each of steps) await take(world, each)
          // Whoever pulls and pushes until nothing is left to do has what the server has.
          for (let round = 0; round < 2; round += 1) {
            await pull(world, first)
            await push(world, first)
          }
          expect(await first.pas('status')).toMatchObject({
            code: 0,
            stdout: expect.not.stringMatching(/pull|clash|merge/),
          })
        } finally {
          for (const editor of world.editors) await editor[Symbol.asyncDispose]()
          for (const slug of world.slugs) if (await serverSource(slug)) await system.client.processes.delete(slug)
        }
      }),
      { numRuns: runs, endOnFailure: true },
    )
  },
)
