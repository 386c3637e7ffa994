import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Client, type Sandbox } from '@automation/client'
import type { operations } from '../src/generated/types.ts'

type Path = { path: string; method: string }

const document = JSON.parse(readFileSync(new URL('../../../docs/reference/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, { operationId?: string }>>
}

const described = new Map<string, Path>(
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { operationId }]) =>
      operationId === undefined ? [] : [[operationId, { path, method: method.toUpperCase() }] as const],
    ),
  ),
)

const sandbox = { id: 'x', publicUrls: {}, publicHttpPorts: [] as number[] } as Sandbox

/** It opens a WebSocket, so that no request is seen here. */
type Terminal = 'getSandboxesBySandboxIdTerminal'
const terminal: Terminal = 'getSandboxesBySandboxIdTerminal'

/** How a user calls each other operation of the document. */
const calls: Record<Exclude<keyof operations, Terminal>, (pas: Client) => unknown> = {
  getProcessesSummaries: (pas) => pas.processes.summaries().toArray(),
  getProcesses: (pas) => pas.processes.list().toArray(),
  postProcesses: (pas) => pas.processes.create({ name: 'x' }),
  getProcessesByIdentifier: (pas) => pas.processes.get('x'),
  patchProcessesByIdentifier: (pas) => pas.processes.update('x', {}),
  deleteProcessesByIdentifier: (pas) => pas.processes.delete('x'),
  postProcessesByIdentifierWebhookSend: (pas) => pas.webhooks.send('x'),
  getProcessesByIdentifierWebhookDeliveries: (pas) => pas.webhooks.deliveries('x'),
  getProcessesByIdentifierVersions: (pas) => pas.processes.versions.list('x').toArray(),
  postProcessesByIdentifierVersions: (pas) => pas.processes.versions.publish('x', { tag: 'v1' }),
  getProcessesByIdentifierVersionsByVersionId: (pas) => pas.processes.versions.get('x', 'y'),
  deleteProcessesByIdentifierVersionsByVersionId: (pas) => pas.processes.versions.delete('x', 'y'),
  getProcessesByIdentifierAliases: (pas) => pas.processes.aliases.list('x').toArray(),
  postProcessesByIdentifierAliases: (pas) => pas.processes.aliases.create('x', { name: 'live' }),
  getProcessesByIdentifierAliasesByAliasId: (pas) => pas.processes.aliases.get('x', 'y'),
  patchProcessesByIdentifierAliasesByAliasId: (pas) => pas.processes.aliases.update('x', 'y', {}),
  deleteProcessesByIdentifierAliasesByAliasId: (pas) => pas.processes.aliases.delete('x', 'y'),
  getModules: (pas) => pas.modules.list().toArray(),
  postModules: (pas) => pas.modules.create({ name: 'x' }),
  getModulesById: (pas) => pas.modules.get('x'),
  patchModulesById: (pas) => pas.modules.update('x', {}),
  deleteModulesById: (pas) => pas.modules.delete('x'),
  getModulesByIdUsers: (pas) => pas.modules.users('x').toArray(),
  getModulesByModuleIdVersions: (pas) => pas.modules.versions.list('x').toArray(),
  postModulesByModuleIdVersions: (pas) => pas.modules.versions.publish('x', { tag: 'v1' }),
  getModulesByModuleIdVersionsByVersionId: (pas) => pas.modules.versions.get('x', 'y'),
  deleteModulesByModuleIdVersionsByVersionId: (pas) => pas.modules.versions.delete('x', 'y'),
  getModulesByModuleIdAliases: (pas) => pas.modules.aliases.list('x').toArray(),
  postModulesByModuleIdAliases: (pas) => pas.modules.aliases.create('x', { name: 'live' }),
  getModulesByModuleIdAliasesByAliasId: (pas) => pas.modules.aliases.get('x', 'y'),
  patchModulesByModuleIdAliasesByAliasId: (pas) => pas.modules.aliases.update('x', 'y', {}),
  deleteModulesByModuleIdAliasesByAliasId: (pas) => pas.modules.aliases.delete('x', 'y'),
  postSourcesCheck: (pas) => pas.sources.check({ programmingLanguage: 'PYTHON', sourceCode: '' }),
  postProcessesByIdentifierExecute: (pas) => pas.processes.run('x'),
  postProcessesByIdentifierExecuteSync: (pas) => pas.processes.executeSync('x', {}),
  postProcessesDraftExecute: (pas) => pas.processes.runDraft({ sourceCode: '' }),
  postProcessesDraftExecuteSync: (pas) => pas.processes.executeDraftSync({}),
  postExecutionsByIdRerun: (pas) => pas.executions.rerun('x'),
  postExecutionsByIdReplay: (pas) => pas.executions.replay('x'),
  getRunWhoami: (pas) => pas.auth.whoami(),
  postRun: (pas) => pas.sources.run('return 1'),
  getFormsBySlug: (pas) => pas.forms.get('x'),
  postFormsBySlug: (pas) => pas.forms.submit('x', {}),
  getExecutionsStatistics: (pas) => pas.executions.statistics(),
  getUsage: (pas) => pas.team.usage(),
  getExecutions: (pas) => pas.executions.list().toArray(),
  getExecutionsById: (pas) => pas.executions.get('x'),
  putExecutionsByIdKill: (pas) => pas.executions.kill('x'),
  postSchedulesPreview: (pas) => pas.schedules.preview({ cron: '* * * * *' }),
  getSchedulesFirings: (pas) => pas.schedules.calendar({ from: '', to: '' }),
  getSchedulesByIdFirings: (pas) => pas.schedules.firings('x').toArray(),
  postSchedulesByIdRun: (pas) => pas.schedules.run('x'),
  getExecutionsByIdRequest: (pas) => pas.executions.request('x'),
  getExecutionsByIdWaiting: (pas) => pas.executions.waiting('x'),
  getExecutionsByIdSource: (pas) => pas.executions.source('x'),
  getExecutionsByIdChildren: (pas) => pas.executions.children('x').toArray(),
  postProcessesByIdentifierSchedule: (pas) => pas.schedules.create('x', { cron: '* * * * *' }),
  getSchedules: (pas) => pas.schedules.list().toArray(),
  getSchedulesById: (pas) => pas.schedules.get('x'),
  patchSchedulesById: (pas) => pas.schedules.update('x', {}),
  deleteSchedulesById: (pas) => pas.schedules.delete('x'),
  putSchedulesByIdPause: (pas) => pas.schedules.pause('x'),
  putSchedulesByIdResume: (pas) => pas.schedules.resume('x'),
  getExecutionsByIdLogs: (pas) => pas.executions.logs('x').toArray(),
  getExecutionsByIdEvents: (pas) => pas.executions.run('x').logs().next(),
  getEvents: (pas) => pas.team.events().next(),
  getVariables: (pas) => pas.variables.list().toArray(),
  postVariables: (pas) => pas.variables.create({ key: 'X', value: '' }),
  getVariablesById: (pas) => pas.variables.get('x'),
  patchVariablesById: (pas) => pas.variables.update('x', {}),
  deleteVariablesById: (pas) => pas.variables.delete('x'),
  getVariablesByIdUsers: (pas) => pas.variables.users('x').toArray(),
  getDependenciesByLanguage: (pas) => pas.dependencies.get('PYTHON'),
  putDependenciesByLanguage: (pas) => pas.dependencies.update('PYTHON', { dependencies: {} }),
  postDependenciesByLanguageInstall: (pas) => pas.dependencies.install('PYTHON'),
  deleteDependenciesByLanguageInstall: (pas) => pas.dependencies.discard('PYTHON'),
  getDependenciesByLanguageInstalls: (pas) => pas.dependencies.installs('PYTHON').toArray(),
  getDependenciesByLanguageInstallsByIdLogs: (pas) => pas.dependencies.installLogs('PYTHON', 'x').toArray(),
  getDependenciesByLanguageInstallsByIdDiff: (pas) => pas.dependencies.diff('PYTHON', 'x', 'y'),
  postDependenciesByLanguageRollback: (pas) => pas.dependencies.rollback('PYTHON', { installId: 'x' }),
  getDatastore: (pas) => pas.team.datastore().toArray(),
  getLimits: (pas) => pas.team.limits(),
  getSandboxes: (pas) => pas.sandboxes.list().toArray(),
  postSandboxes: (pas) => pas.sandboxes.create({ imageId: 'base' }),
  getSandboxesImages: (pas) => pas.sandboxes.images(),
  getSandboxesBySandboxId: (pas) => pas.sandboxes.get('x'),
  postSandboxesBySandboxId: (pas) => pas.sandboxes.extend('x', 60_000),
  postSandboxesBySandboxIdKill: (pas) => pas.sandboxes.kill('x'),
  postSandboxesBySandboxIdCommands: (pas) => pas.sandboxes.use(sandbox).run(['ls']),
  getSandboxesBySandboxIdCommands: (pas) => pas.sandboxes.use(sandbox).commands(),
  getSandboxesBySandboxIdCommandsByCommandId: (pas) => pas.sandboxes.use(sandbox).attach('y').next(),
  deleteSandboxesBySandboxIdCommandsByCommandId: (pas) => pas.sandboxes.use(sandbox).remove('y'),
  getSandboxesBySandboxIdFilesByPath: (pas) => pas.sandboxes.use(sandbox).files.read('/tmp/x'),
  putSandboxesBySandboxIdFilesByPath: (pas) => pas.sandboxes.use(sandbox).files.write('/tmp/x', ''),
  deleteSandboxesBySandboxIdFilesByPath: (pas) => pas.sandboxes.use(sandbox).files.remove('/tmp/x'),
  getStorageObjects: (pas) => pas.storage.list(),
  postStorageObjects: (pas) => pas.storage.upload('a/x', 'text'),
  getStorageObjectsByFilename: (pas) => pas.storage.download('a/x'),
  deleteStorageObjectsByFilename: (pas) => pas.storage.delete('a/x'),
  getStorageUsage: (pas) => pas.storage.usage(),
  postStorageSignedUrls: (pas) => pas.storage.sign({ path: 'a/x' }),
  postStorageUploads: (pas) => pas.storage.uploads.create({ name: 'a/x' }),
  getStorageUploads: (pas) => pas.storage.uploads.list(),
  getStorageUploadsById: (pas) => pas.storage.uploads.get('x'),
  deleteStorageUploadsById: (pas) => pas.storage.uploads.delete('x'),
  putStorageUploadsByIdPartsByNumber: (pas) => pas.storage.uploads.put('x', 1, new Blob(['text'])),
  postStorageUploadsByIdComplete: (pas) => pas.storage.uploads.complete('x'),
  getStorageSignedByFilename: (pas) =>
    pas.storage.downloadSigned({ url: `${pas.url}/api/demo/rest/storage/signed/a/x?X-Amz-Signature=1` }),
  getTeam: (pas) => pas.team.get(),
  patchTeam: (pas) => pas.team.update({}),
  getTeams: (pas) => pas.team.list(),
  getAuditEvents: (pas) => pas.team.auditEvents().toArray(),
  postAuthToken: (pas) => pas.auth.token({ client_id: 'x', client_secret: 'y' }),
  getAuthServiceAccounts: (pas) => pas.auth.serviceAccounts().toArray(),
  postAuthServiceAccounts: (pas) => pas.auth.createServiceAccount({ name: 'x' }),
  deleteAuthServiceAccountsById: (pas) => pas.auth.deleteServiceAccount('x'),
  getWebhook: (pas) => pas.webhooks.call('x'),
  postWebhook: (pas) => pas.webhooks.call('x', { body: {} }),
}

/** What every call here gets: enough for each to be read. */
const answer = {
  data: [],
  hasNextPage: false,
  id: 'x',
  executionId: 'x',
  status: 'RUNNING',
  access_token: 't',
  expires_in: 60,
}

function answeredFetch(asked: Path[]): typeof fetch {
  return (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input)
    if (init?.headers !== undefined) asked.push({ method: init.method ?? 'GET', path: pathname })
    const accept = new Headers(init?.headers).get('Accept')
    const isStream = accept === 'text/event-stream'
    const text = isStream ? 'event: end\ndata: {}\n\n' : JSON.stringify({ type: 'exit', code: 0, ...answer })
    return Promise.resolve(new Response(text, { headers: { 'Content-Type': 'application/json' } }))
  }
}

const matches = ({ path, method }: Path, asked: Path) =>
  method === asked.method &&
  new RegExp(`^${path.replaceAll(/\{(filename|path)\}/g, '.+').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(asked.path)

describe('each operation of the document has a method', () => {
  test('the table knows all of them, and no others', () => {
    expect([...Object.keys(calls), terminal].toSorted()).toEqual([...described.keys()].toSorted())
  })

  test.each(Object.entries(calls))('%s', async (operationId, call) => {
    const asked: Path[] = []
    const pas = new Client({ url: 'http://pas.test', team: 'demo', token: 'sk-demo', fetch: answeredFetch(asked) })
    await call(pas)
    const fitting = asked.filter((one) => matches(described.get(operationId)!, one))
    expect(fitting, `of ${JSON.stringify(asked)}`).toHaveLength(1)
  })
})
