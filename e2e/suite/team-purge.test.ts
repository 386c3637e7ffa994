import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client as Database } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Schedule } from '../client/records.ts'
import { withRows } from '../system/database.ts'
import { killedAdmin } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { admin, dataDir, ownTeam } from './own-team.ts'
import { awaitEnd, awaitStatus, execute, makeProcess } from './runs.ts'
import { everySecond } from './scheduling.ts'
import { shared } from './shared-system.ts'

const doomed = 'doomedteam'
const other = 'staying'

/** Two teams with all that there is; the tests follow each other. */
describe.skipIf(!shared.owned)('a team that is purged', { concurrent: false, timeout: 240_000 }, () => {
  const clients: Record<string, Client> = {}
  let ids: string[]

  beforeAll(async () => {
    for (const team of [doomed, other]) clients[team] = (await ownTeam(team)).client
    ids = await fill(clients[doomed]!)
    await fill(clients[other]!)
  }, 240_000)
  // What runs would hold up the stop of the suite's system.
  afterAll(() => admin(['teams', 'suspend', other, '--kill']))

  test('leaves nothing but audit records, also where the command was killed in the middle, and touches no other', async () => {
    const naming = (texts: string[], except: RegExp) => withRows(dataDir, (rows) => tablesWith(rows, texts, except))
    expect(await naming([doomed], /audit_records/)).toEqual(
      expect.arrayContaining(['catalog.processes', 'storage.blobs']),
    )
    expect(await filesNamed(dataDir, doomed)).not.toEqual([])
    const before = await settled(() => digestOf(dataDir, other))

    expect((await admin(['teams', 'purge', doomed, '--confirm', other])).code).toBe(1)
    for (const at of ['Killed', 'Removed: executions'])
      await killedAdmin(['teams', 'purge', doomed, '--confirm', doomed], shared.own!.env, at)
    const { code, stdout, stderr } = await admin(['teams', 'purge', doomed, '--confirm', doomed])
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('is removed')
    expect(stderr).toContain('API tokens')

    const left = await naming([doomed, ...ids], /audit_records/)
    expect(left).toEqual([])
    await waitUntil('the folders of the team to go', async () => (await filesNamed(dataDir, doomed)).length === 0, {
      timeoutMs: 60_000,
    })
    expect(await settled(() => digestOf(dataDir, other))).toEqual(before)
    expect((await clients[other]!.get('/team')).status).toBe(200)
    const audited = await withRows(dataDir, (rows) =>
      rows.query(`SELECT event FROM catalog.audit_records WHERE team = $1 AND event = 'removed'`, [doomed]),
    )
    expect(audited.rowCount).toBe(1)
  })

  test('answers none of its access tokens that are out, and its slug is free once they have ended', async () => {
    const gone = clients[doomed]!
    const upload = { query: { filename: 'late' }, body: 'late', headers: { 'content-type': 'text/plain' } }
    expect((await gone.call('POST', '/storage/objects', upload)).status).toBe(404)
    expect((await gone.get('/executions')).status).toBe(404)
    const again = await admin(['teams', 'create', doomed])
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('access tokens')])
    expect((await admin(['teams', 'purge', doomed, '--confirm', doomed])).code).toBe(0)
  })
})

/** Uses everything that a team may have; gives ids of some of it. */
async function fill(by: Client): Promise<string[]> {
  const done = async (method: string, path: string, options: Parameters<Client['call']>[2] = {}) => {
    const answer = await by.call<{ id: string }>(method, path, options)
    expect(answer.status, `${path} ${answer.text}`).toBeLessThan(300)
    return answer.body
  }
  await done('POST', '/modules', { json: { name: 'shared', sourceCode: 'exports.a = 1' } })
  await done('POST', '/variables', { json: { key: 'SECRET', value: 'x', isSensitive: true } })
  await by.call('PUT', '/dependencies/JAVASCRIPT', { json: { dependencies: { own: '*' } } })
  await done('POST', '/dependencies/JAVASCRIPT/install')
  await waitUntil(
    'the installation',
    async () => !('nextInstallation' in (await by.get<object>('/dependencies/JAVASCRIPT')).body),
    { timeoutMs: 60_000, everyMs: 100 },
  )
  const sourceCode = `if (svc.context.parameters.forever) await new Promise(() => setInterval(() => {}, 1000))
    await svc.datastore.set('kept', 1)
    return require('own')`
  const process = await makeProcess({ sourceCode, webhook: { enabled: true } }, by)
  const version = await done('POST', `/processes/${process.id}/versions`, { json: { tag: 'v1' } })
  await done('POST', `/processes/${process.id}/aliases`, { json: { name: 'live', versionId: version.id } })
  await by.post(`/processes/${process.id}/webhook/send`, { method: 'GET' })
  const ended = await execute(process, {}, by)
  expect((await awaitEnd(ended, 60_000, by)).status).toBe('FINISHED')
  const made = await by.post<Schedule>(`/processes/${process.id}/schedule`, { cron: everySecond })
  await waitUntil(
    'a firing',
    async () => {
      const { body } = await by.get<{ total: number }>(`/schedules/${made.body.id}/firings`)
      return body.total > 0
    },
    { timeoutMs: 20_000 },
  )
  await by.put(`/schedules/${made.body.id}/pause`)
  await done('POST', '/storage/objects', {
    query: { filename: 'dir/file' },
    body: 'content',
    headers: { 'content-type': 'text/plain' },
  })
  const sandbox = await done('POST', '/sandboxes', { json: { imageId: 'base', timeout: 600_000 } })
  const draft = { sourceCode: 'return 1', programmingLanguage: 'JAVASCRIPT' }
  await by.post('/processes/draft/execute-sync', { draft })
  const running = await execute(process, { parameters: { forever: true } }, by)
  await awaitStatus(running, ({ status }) => status === 'RUNNING', 30_000, by)
  return [process.id, ended, running, made.body.id, sandbox.id, version.id]
}

/** Tables of all services with a row in which one of these texts stands, but those named. */
async function tablesWith(database: Database, texts: string[], except: RegExp): Promise<string[]> {
  const found: string[] = []
  for (const table of await tablesOf(database)) {
    if (except.test(table)) continue
    const { rowCount } = await database.query(
      `SELECT FROM ${table} AS one WHERE EXISTS (SELECT FROM unnest($1::text[]) AS t WHERE strpos(one::text, t) > 0) LIMIT 1`,
      [texts],
    )
    if (rowCount) found.push(table)
  }
  return found
}

async function tablesOf(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema$)' ORDER BY 1`,
  )
  return rows.map(({ name }) => name)
}

/** Of each table, what its rows of a team are. When sets of packages were last in use goes on by itself. */
function digestOf(dataDir: string, team: string): Promise<Record<string, string>> {
  return withRows(dataDir, async (database) => {
    const digests: Record<string, string> = {}
    for (const table of await tablesOf(database)) {
      const { rows } = await database.query<{ digest: string }>(
        `SELECT count(*) || ' ' || coalesce(md5(string_agg(text, ' ' ORDER BY text)), '') AS digest
           FROM (SELECT (to_jsonb(one) - 'used_at' - 'last_used_at')::text AS text FROM ${table} AS one
                  WHERE strpos(one::text, $1) > 0) AS rows`,
        [team],
      )
      digests[table] = rows[0]!.digest
    }
    return digests
  })
}

/** What `look` gives once it gives the same twice. */
async function settled<T>(look: () => Promise<T>): Promise<T> {
  let last: T | undefined
  const same = async () => {
    const before = last
    last = await look()
    return JSON.stringify(last) === JSON.stringify(before) && last
  }
  return (await waitUntil('nothing to change any more', same, { timeoutMs: 60_000, everyMs: 2500 })) as T
}

/** Files and folders below a folder whose paths have this text; those of PostgreSQL have names of their own. */
async function filesNamed(folder: string, text: string, below = ''): Promise<string[]> {
  // What others remove meanwhile has no files.
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => [])
  const found = entries.map(async (entry) => {
    const path = join(below, entry.name)
    if (path === 'postgres') return []
    const own = path.includes(text) ? [path] : []
    return entry.isDirectory() ? [...own, ...(await filesNamed(folder, text, path))] : own
  })
  return (await Promise.all(found)).flat()
}
