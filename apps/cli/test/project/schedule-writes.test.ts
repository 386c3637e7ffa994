import { createServer, request as ask } from 'node:http'
import { pipeline } from 'node:stream'
import { listening } from '@automation/testing/listening'
import { beforeAll, expect, test } from 'vitest'
import { ownTeam, type OwnTeam } from './own-team.ts'
import { pushed, sourceOf as path, unique, Workspace } from './workspace.ts'

let system: OwnTeam
beforeAll(async () => {
  system = await ownTeam('schedule-writes')
  return system.leave
}, 150_000)

/** Passes on what is asked of the system, and notes the writes of schedules. */
async function noting(): Promise<AsyncDisposable & { host: string; writes: string[] }> {
  const writes: string[] = []
  const server = createServer((request, response) => {
    const { method, url = '', headers } = request
    const asked = url.replace(/.*\/rest/, '')
    // A preview writes nothing.
    if (method !== 'GET' && /\/schedules?(\/(?!preview$)|$)/.test(asked)) writes.push(`${method} ${asked}`)
    const passed = ask(new URL(url, system.host), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      pipeline(answer, response, () => undefined)
    })
    passed.on('error', () => response.destroy())
    pipeline(request, passed, () => undefined)
  })
  const { url: host, close } = await listening(server)
  return { host, writes, [Symbol.asyncDispose]: close }
}

/** Pushes a process with this schedule alone; gives the schedule as the server has it. */
async function pushSchedule(workspace: Workspace, slug: string, schedule: string) {
  await workspace.write(path(slug, 'process.yaml'), `schedules: { only: ${schedule} }\n`)
  await workspace.commit()
  expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
  const { id: processId } = await system.client.processes.get(slug)
  const [record] = await system.client.schedules.list({ processId }).toArray()
  return record!
}

test('a schedule is made paused, changed with its pause, and resumed, by one write each', async () => {
  const slug = unique('paused')
  await using between = await noting()
  await using workspace = await Workspace.make({ ...system, host: between.host })
  const push = async (schedule: string) => {
    const record = await pushSchedule(workspace, slug, schedule)
    return { record, writes: between.writes.splice(0) }
  }
  await workspace.write(path(slug), 'return 1\n')
  const made = await push('{ cron: "* * * * * *", paused: true }')
  expect(made).toMatchObject({ record: { paused: true }, writes: [`POST /processes/${slug}/schedule`] })
  const writes = [`PATCH /schedules/${made.record.id}`]
  const resumed = { cron: '0 3 1 1 *', paused: false }
  expect(await push('{ cron: "0 3 1 1 *" }')).toMatchObject({ record: resumed, writes })
  const changed = { cron: '0 4 1 1 *', paused: true }
  expect(await push('{ cron: "0 4 1 1 *", paused: true }')).toMatchObject({ record: changed, writes })
  const executions = await system.client.executions.list({ processId: made.record.processId }).toArray()
  expect(executions).toEqual([])
})

test('a schedule whose one time is over is no change where a file has it', async () => {
  const slug = unique('once')
  await using workspace = await pushed(system, slug)
  const dateTime = new Date(Date.now() + 3000).toISOString()
  const { id } = await system.client.schedules.create(slug, { dateTime, input: { comment: 'once' } })
  const next = async () => (await system.client.schedules.get(id)).nextExecutionAt
  await expect.poll(next, { timeout: 30_000 }).toBeUndefined()
  await workspace.write(path(slug, 'process.yaml'), `tags: [one]\nschedules: { once: { dateTime: "${dateTime}" } }\n`)
  await workspace.commit()
  await using clone = await Workspace.make(system, workspace)
  expect(await clone.pas('plan', `processes/${slug}`, '--check')).toMatchObject({ code: 0 })
  await clone.write(path(slug, 'process.yaml'), 'tags: [one]\n')
  await clone.commit()
  expect(await clone.pas('plan', `processes/${slug}`, '--check', '--prune')).toMatchObject({ code: 0 })
})

test('a schedule has the settings of its runs that its file says, and no others', async () => {
  const slug = unique('settings')
  await using workspace = await Workspace.make(system)
  await workspace.write(path(slug), 'return 1\n')
  const settingsAfter = async (schedule: string) => (await pushSchedule(workspace, slug, schedule)).settings
  const usual = { allowConcurrentExecutions: false, agentPoolSlugs: [] }
  const set = { ...usual, timeout: 45_000, freshProcess: true }
  expect(await settingsAfter('{ cron: "0 3 1 1 *", timeout: 45000, freshProcess: true }')).toEqual(set)
  expect(await settingsAfter('{ cron: "0 3 1 1 *", timeout: null, freshProcess: false }')).toEqual(usual)
  const { stdout } = await workspace.pas('plan', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ items: [] })
})
