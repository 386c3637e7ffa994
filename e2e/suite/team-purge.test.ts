import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client as Database } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Schedule } from '../client/records.ts'
import { bucketOf } from '../system/bucket.ts'
import { withRowsAt } from '../system/database.ts'
import { objectsNaming } from '../cluster/objects.ts'
import { killedAdmin } from '../system/system.ts'
import { topicOf } from '../system/topic.ts'
import { waitUntil } from '../system/wait-until.ts'
import { admin, dataDir, ownTeam } from './own-team.ts'
import { awaitEnd, awaitStatus, execute, makeProcess } from './runs.ts'
import { everySecond } from './scheduling.ts'
import { shared, unique } from './shared-system.ts'

const doomed = unique('doomed')
const other = unique('staying')
/** What stands in whatever a team gives: sources, parameters, results, logs, errors, contents, secrets. */
const words: Record<string, string> = { [doomed]: unique('words'), [other]: unique('words') }

const operator = shared.operator!
const bucket = bucketOf(operator?.env ?? {})
const topic = topicOf(operator?.env ?? {})
const cluster = clusterOf(operator?.env ?? {})

/** Another one, as the values of sensitive variables are masked wherever they stand. */
const secretOf = (said: string) => said.toUpperCase()

/** Two teams with all that there is; the tests follow each other. */
describe.skipIf(operator === undefined)('a team that is purged', { concurrent: false, timeout: 240_000 }, () => {
  const clients: Record<string, Client> = {}
  let ids: string[]

  beforeAll(async () => {
    for (const team of [doomed, other]) clients[team] = (await ownTeam(team)).client
    ids = await fill(clients[doomed]!, words[doomed]!)
    await fill(clients[other]!, words[other]!)
  }, 240_000)
  // What runs would hold up the stop of the suite's system.
  afterAll(() => admin(['teams', 'suspend', other, '--kill']))

  const tablesNaming = (texts: string[]) =>
    withRowsAt(operator.databaseUrl, (rows) => tablesWith(rows, texts, /audit_records/))
  const digest = () => withRowsAt(operator.databaseUrl, (rows) => digestOf(rows, other))
  const filesOf = async (team: string) => (shared.own === undefined ? [] : filesNamed(dataDir, team))
  const keysOf = async (team: string) => (await bucket?.keys())?.filter((key) => key.includes(team)) ?? []
  const inCluster = async (...texts: string[]) => (cluster === undefined ? [] : objectsNaming(cluster, texts))

  test('leaves nothing but audit records, also where the command was killed in the middle, and touches no other', async () => {
    expect(await tablesNaming([doomed])).toEqual(expect.arrayContaining(['catalog.processes', 'storage.blobs']))
    expect(await (bucket === undefined ? filesOf(doomed) : keysOf(doomed))).not.toEqual([])
    if (cluster !== undefined) {
      const runnerAndSandbox = [/^Pod .*-runner-\d+$/, /^Pod (?!.*-runner-)/].map((name) => expect.stringMatching(name))
      expect(await inCluster(doomed)).toEqual(expect.arrayContaining(runnerAndSandbox))
    }
    const before = await settled(digest)

    expect((await admin(['teams', 'purge', doomed, '--confirm', other])).code).toBe(1)
    for (const at of ['Killed', 'Removed: executions'])
      await killedAdmin(['teams', 'purge', doomed, '--confirm', doomed], operator.env, at)
    const { code, stdout, stderr } = await admin(['teams', 'purge', doomed, '--confirm', doomed])
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('is removed')
    expect(stderr).toContain('API tokens')

    expect(await tablesNaming([doomed, words[doomed]!, ...ids])).toEqual([])
    expect(await keysOf(doomed)).toEqual([])
    await waitUntil(
      'its pods and its folders to go',
      async () => {
        const left = [...(await inCluster(doomed, words[doomed]!, ...ids)), ...(await filesOf(doomed))]
        return left.length === 0
      },
      { timeoutMs: 60_000, everyMs: 500 },
    )
    expect(await settled(digest)).toEqual(before)
    expect((await clients[other]!.get('/team')).status).toBe(200)
    const audited = await withRowsAt(operator.databaseUrl, (rows) =>
      rows.query(`SELECT event FROM catalog.audit_records WHERE team = $1 AND event = 'removed'`, [doomed]),
    )
    expect(audited.rowCount).toBe(1)
  })

  test.skipIf(bucket === undefined)('leaves no content of it in the bucket', async () => {
    expect(await bucket!.keysOfContentsWith(words[other]!)).not.toEqual([])
    expect(await bucket!.keysOfContentsWith(words[doomed]!)).toEqual([])
  })

  test.skipIf(topic === undefined)(
    'leaves records in Kafka that name it, hold nothing of its own, and go',
    async () => {
      const records = await topic!.records()
      expect(records.filter((record) => record.includes(doomed)).length).toBeGreaterThan(5)
      for (const text of Object.values(words).flatMap((said) => [said, secretOf(said)]))
        expect(records.filter((record) => record.includes(text))).toEqual([])
      expect(Math.max(...records.map(({ length }) => length))).toBeLessThan(1000)
      const dayMs = 86_400_000
      expect(await topic!.settings()).toEqual({ retentionMs: 7 * dayMs, segmentMs: dayMs })
    },
  )

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

/** Where the pods of a system are, if it has any. */
function clusterOf({ KUBECONFIG: kubeconfig, E2E_NAMESPACES: namespaces }: Record<string, string | undefined>) {
  return kubeconfig === undefined || namespaces === undefined
    ? undefined
    : { kubeconfig, namespaces: namespaces.split(',') }
}

/** Uses everything that a team may have, with these words; gives ids of some of it. */
async function fill(by: Client, said: string): Promise<string[]> {
  const done = async (method: string, path: string, options: Parameters<Client['call']>[2] = {}) => {
    const answer = await by.call<{ id: string }>(method, path, options)
    expect(answer.status, `${path} ${answer.text}`).toBeLessThan(300)
    return answer.body
  }
  await done('POST', '/modules', { json: { name: 'shared', sourceCode: `exports.a = '${said}'` } })
  await done('POST', '/variables', { json: { key: 'SECRET', value: secretOf(said), isSensitive: true } })
  await done('POST', '/variables', { json: { key: 'OPEN', value: said } })
  if (shared.owned) await installPackage(by)
  const sourceCode = `const { forever, breaks, data } = svc.context.parameters
    if (forever) await new Promise(() => setInterval(() => {}, 1000))
    console.log(data)
    await svc.datastore.set(data ?? 'kept', 1)
    if (breaks) throw new Error(data)
    return [data, require('shared')${shared.owned ? ", require('own')" : ''}]`
  const process = await makeProcess({ sourceCode, webhook: { enabled: true } }, by)
  const version = await done('POST', `/processes/${process.id}/versions`, { json: { tag: 'v1' } })
  await done('POST', `/processes/${process.id}/aliases`, { json: { name: 'live', versionId: version.id } })
  await by.post(`/processes/${process.id}/webhook/send`, { method: 'GET' })
  const ended = await execute(process, { parameters: { data: said }, comment: said }, by)
  expect((await awaitEnd(ended, 60_000, by)).status).toBe('FINISHED')
  const broken = await execute(process, { parameters: { data: said, breaks: true } }, by)
  expect((await awaitEnd(broken, 60_000, by)).status).toBe('ERROR')
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
    query: { filename: `dir/${said}` },
    body: `a content with ${said}`,
    headers: { 'content-type': 'text/plain' },
  })
  const upload = await done('POST', '/storage/uploads', { json: { name: 'half' } })
  await done('PUT', `/storage/uploads/${upload.id}/parts/1`, {
    body: `a part with ${said}`,
    headers: { 'content-type': 'application/octet-stream' },
  })
  const sandbox = await done('POST', '/sandboxes', { json: { imageId: 'base', timeout: 600_000 } })
  const draft = { sourceCode: 'return 1', programmingLanguage: 'JAVASCRIPT' }
  await by.post('/processes/draft/execute-sync', { draft })
  const running = await execute(process, { parameters: { forever: true } }, by)
  await awaitStatus(running, ({ status }) => status === 'RUNNING', 30_000, by)
  return [process.id, ended, broken, running, made.body.id, sandbox.id, version.id, upload.id]
}

async function installPackage(by: Client): Promise<void> {
  await by.call('PUT', '/dependencies/JAVASCRIPT', { json: { dependencies: { own: '*' } } })
  expect((await by.call('POST', '/dependencies/JAVASCRIPT/install')).status).toBeLessThan(300)
  await waitUntil(
    'the installation',
    async () => !('nextInstallation' in (await by.get<object>('/dependencies/JAVASCRIPT')).body),
    { timeoutMs: 60_000, everyMs: 100 },
  )
}

/** Tables of all services with a row in which one of these texts stands, also as bytes of a column, but those named. */
async function tablesWith(database: Database, texts: string[], except: RegExp): Promise<string[]> {
  const found: string[] = []
  for (const table of await tablesOf(database)) {
    if (except.test(table)) continue
    const { rowCount } = await database.query(
      `SELECT FROM ${table} AS one WHERE EXISTS (SELECT FROM unnest($1::text[]) AS t WHERE strpos(one::text, t) > 0) LIMIT 1`,
      [texts.flatMap((text) => [text, hexOf(text)])],
    )
    if (rowCount) found.push(table)
  }
  return found
}

/** As PostgreSQL shows the bytes of a text, or of the UUID that it is. */
function hexOf(text: string): string {
  return isUuid.test(text) ? text.replaceAll('-', '') : Buffer.from(text).toString('hex')
}

const isUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function tablesOf(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema$)' ORDER BY 1`,
  )
  return rows.map(({ name }) => name)
}

/** Of each table, what its rows of a team are. What is noted of use and of leases goes on by itself. */
async function digestOf(database: Database, team: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const table of await tablesOf(database)) {
    const { rows } = await database.query<{ digest: string }>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(text, ' ' ORDER BY text)), '') AS digest
         FROM (SELECT (to_jsonb(one) - '{used_at,last_used_at,expires_at,renewed_at,idle_since}'::text[])::text AS text
                 FROM ${table} AS one WHERE strpos(one::text, $1) > 0) AS rows`,
      [team],
    )
    digests[table] = rows[0]!.digest
  }
  return digests
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
