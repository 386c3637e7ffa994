import type { Input, Operation } from '../client/document.ts'
import type { Kind } from './belongings.ts'

/** What an input names, and what a team hears that asks for what another team has. */
export interface Naming {
  kind: Kind
  /**
   * `refused`: what is asked for must be there. `same`: the call succeeds whether it is there or not (a filter, or a
   * name that is given and that others may have as well).
   */
  answer: 'refused' | 'same'
  /** The name is given to something new. */
  gives?: true
  /** The rest of the request is the asking team's own, where the other team's would be in the right together. */
  restIsOwn?: true
}

type Row = [operations: RegExp, input: string, naming: Naming]

const existing = (kind: Kind): Naming => ({ kind, answer: 'refused' })
const filter = (kind: Kind): Naming => ({ kind, answer: 'same' })
const given = (kind: Kind): Naming => ({ kind, answer: 'same', gives: true })

/** Inputs that name something which belongs to a team; the first row that fits counts. */
const rows: readonly Row[] = [
  [/\/(webhooks|storage\/signed|auth\/token)\b/, 'path team', { ...existing('team'), restIsOwn: true }],
  [/./, 'path team', existing('team')],
  [/./, 'path identifier', existing('process')],
  [/^\w+ \/(webhooks|forms)/, 'path slug', existing('webhook')],
  [/\/processes\//, 'path versionId', existing('version')],
  [/\/processes\//, 'path aliasId', existing('alias')],
  [/\/modules\//, 'path id', existing('module')],
  [/\/modules\//, 'path moduleId', existing('module')],
  [/\/modules\//, 'path versionId', existing('moduleVersion')],
  [/\/modules\//, 'path aliasId', existing('moduleAlias')],
  [/\/executions\/\{id\}\/(request|replay)$/, 'path id', existing('webhookExecution')],
  [/\/kill$/, 'path id', existing('runningExecution')],
  [/\/executions\//, 'path id', existing('execution')],
  [/\/installs\//, 'path id', existing('install')],
  [/\/installs\//, 'query to', existing('install')],
  [/\/rollback$/, 'body /installId', existing('install')],
  [/\/resume$/, 'path id', existing('pausedSchedule')],
  [/\/schedules\//, 'path id', existing('schedule')],
  [/\/variables\//, 'path id', existing('variable')],
  [/\/service-accounts\//, 'path id', existing('serviceAccount')],
  [/./, 'path sandboxId', existing('sandbox')],
  [/^(GET|DELETE) .*\/files\//, 'path path', existing('sandboxFile')],
  [/\/commands\//, 'path commandId', existing('sandboxCommand')],
  [/\/storage\//, 'path filename', existing('object')],
  [/\/storage\/uploads\//, 'path id', existing('upload')],
  [/./, 'path language', filter('language')],

  [/^GET \/rest\/processes(\/summaries)?$/, 'query keywords', filter('slug')],
  [/^GET \/rest\/processes(\/summaries)?$/, 'query tags', filter('label')],
  [/^GET \/rest\/executions$/, 'query keywords', filter('nameOrComment')],
  [/^GET \/rest\/executions$/, 'query comment', filter('comment')],
  [/^GET \/rest\/executions$/, 'query scheduledId', filter('schedule')],
  [/^GET \/rest\/executions$/, 'query versionId', filter('versionId')],
  [/^GET \/rest\/(executions(\/statistics)?|events)$/, 'query processId', filter('processId')],
  [/^GET \/rest\/schedules$/, 'query keywords', filter('scheduledNameOrComment')],
  [/^GET \/rest\/schedules$/, 'query processId', filter('processId')],
  [/^GET \/rest\/processes\/.*\/aliases$/, 'query versionId', filter('version')],
  [/^GET \/rest\/modules\/.*\/aliases$/, 'query versionId', filter('moduleVersion')],
  [/^GET \/rest\/audit-events$/, 'query entityId', filter('entity')],
  [/^GET \/rest\/(storage|datastore)/, 'query prefix', filter('object')],
  [/^POST \/rest\/storage/, 'query filename', given('objectName')],
  [/^POST \/rest\/storage/, 'query name', given('objectName')],
  [/\/storage\/signed\//, 'query X-Amz-Signature', existing('signature')],

  [/\/auth\/token$/, 'header x-api-token', existing('apiToken')],
  [/^(?!.*\/draft\/execute-sync$)/, 'header Idempotency-Key', filter('idempotencyKey')],
  [/./, 'header Svc-Version-Tag', existing('pointer')],
  [/./, 'header Last-Event-ID', existing('event')],

  [/ \/rest\/processes(\/\{identifier\})?$/, 'body /name', given('slug')],
  [/ \/rest\/processes(\/\{identifier\})?$/, 'body /slug', given('slug')],
  [/\/(execute(-sync)?|rerun|replay)$/, 'body /tag', existing('pointer')],
  [/\/schedule(s\/.*)?$/, 'body /input/tag', existing('pointer')],
  [/\/processes\/.*\/versions$/, 'body /tag', given('versionTag')],
  [/\/processes\/.*\/aliases/, 'body /name', given('aliasName')],
  [/\/processes\/.*\/aliases/, 'body /versionId', existing('version')],
  [/ \/rest\/modules(\/\{id\})?$/, 'body /name', given('moduleName')],
  [/\/modules\/.*\/versions$/, 'body /tag', given('versionTag')],
  [/\/modules\/.*\/aliases/, 'body /name', given('aliasName')],
  [/\/modules\/.*\/aliases/, 'body /versionId', existing('moduleVersion')],
  [/\/variables/, 'body /key', given('variableKey')],
  [/\/webhook\/send$/, 'body /signWith/variable', existing('variableKey')],
  [/\/sandboxes$/, 'body /name', given('sandboxName')],
  [/\/storage\/uploads$/, 'body /name', given('objectName')],
  [/\/signed-urls$/, 'body /path', existing('object')],
  [/\/team$/, 'body /parentTeamSlugs/[]', existing('team')],
  [/\/team$/, 'body /errorHandlerConfig/processSlug', existing('slug')],
  [/\/team$/, 'body /errorHandlerConfig/tag', existing('pointer')],
]

/** Inputs that name nothing of a team, wherever they are: texts, numbers, secrets, what the operator names. */
const plain: ReadonlySet<string> = new Set([
  'path number', // of a part
  'query page',
  'query contains',
  'query level',
  'query origin',
  'query q',
  'query status',
  'query trial',
  'query types',
  'query limit',
  'query delimiter',
  'query after', // a position in a list of one's own
  'query async',
  'query wait',
  'query bucket',
  'query by',
  'query cols',
  'query rows',
  'query async_response',
  'query X-Amz-Algorithm',
  'query X-Amz-Credential', // the service's, the same for all
  'query X-Amz-Date',
  'query X-Amz-Expires',
  'query X-Amz-SignedHeaders',
  'header Content-MD5',
  'header If-Match',
  'header If-Modified-Since',
  'header If-None-Match',
  'header If-Range',
  'header If-Unmodified-Since',
  'header Range',
  'header Svc-Async',
  'header Svc-Initiated-By',
  'header Svc-Agent-Pool',
  'header Svc-Comment',
  'header X-Request-Id',
  'header traceparent',
  'body /body',
  'body /body/[]',
  'body /client_id', // open nothing without its secret: oauth-client.test.ts tries those of another team
  'body /client_secret',
  'body /args/[]',
  'body /code',
  'body /command',
  'body /comment',
  'body /contentType',
  'body /count',
  'body /cron',
  'body /cwd',
  'body /dateTime',
  'body /dependencies',
  'body /description',
  'body /draft/manifest/dependencies',
  'body /draft/parametersSchema',
  'body /draft/sourceCode',
  'body /env',
  'body /expiresAt',
  'body /expiresInSeconds',
  'body /file',
  'body /headers',
  'body /imageId',
  'body /input/comment',
  'body /input/parameters',
  'body /input/settings/agentPoolSlug',
  'body /input/settings/callbackUrl',
  'body /input/settings/timeout',
  'body /manifest/dependencies',
  'body /metadata',
  'body /options/comment',
  'body /options/initiatedBy',
  'body /options/manifest/dependencies',
  'body /options/parameters',
  'body /options/settings/agentPoolSlug',
  'body /options/settings/callbackUrl',
  'body /options/settings/timeout',
  'body /origin/commit',
  'body /origin/digest',
  'body /origin/repository',
  'body /parameters',
  'body /parametersSchema',
  'body /programmingLanguage',
  'body /publicHttpPorts/[]',
  'body /publicHttpPortsBasicAuth',
  'body /query',
  'body /readme',
  'body /scope',
  'body /scopes/[]',
  'body /script/parametersSchema',
  'body /script/programmingLanguage',
  'body /script/sourceCode',
  'body /settings/agentPoolSlug',
  'body /settings/callbackUrl',
  'body /settings/formsConfig/frameAncestors/[]',
  'body /settings/formsConfig/tag', // of the process that it is written for
  'body /settings/publicConfig/token',
  'body /settings/timeout',
  'body /signWith/header',
  'body /size',
  'body /sourceCode',
  'body /stdin',
  'body /tags/[]',
  'body /timeout',
  'body /timeoutMs',
  'body /value',
  'body /webhook/allowedAddresses/[]',
  'body /webhook/password',
  'body /webhook/username',
  'body /zoneId',
  'body /allowedAddresses/[]',
])

/** Texts of one operation only, under a name that elsewhere is one of a thing. */
const plainHere: ReadonlySet<string> = new Set([
  'PATCH /rest/team body /name',
  // Runs of the same process as at /draft/execute, where the key was tried before by the same team.
  'POST /rest/processes/draft/execute-sync header Idempotency-Key',
  'PUT /rest/sandboxes/{sandboxId}/files/{path} path path', // in the sandbox that stands before it
  'GET /run/whoami header x-api-token', // whoever has it is its team: unsaved-code.test.ts tries those of nobody
  'POST /run header x-api-token',
  'POST /rest/auth/service-accounts body /name',
])

/** What an input of an operation names; undefined for one that names nothing, `unknown` for one that no row speaks of. */
export function namingOf(operation: Operation, input: Input): Naming | undefined | 'unknown' {
  const word = `${input.location} ${input.name}`
  const row = rows.find(([operations, name]) => name === word && operations.test(operation.name))
  if (row) return row[2]
  const known =
    plain.has(word) || plainHere.has(`${operation.name} ${word}`) || (input.closed && input.location !== 'path')
  return known ? undefined : 'unknown'
}
