import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  maxItems?: number
  enum?: unknown[]
  properties?: Record<string, Schema>
  allOf?: Schema[]
}

interface Response {
  $ref?: string
  content?: Record<string, { schema: Schema }>
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> }
}

let gateway: GatewayForTests
let document: Document

beforeAll(async () => {
  gateway = await startGateway()
  document = (await (await gateway.request('GET', '/openapi.json')).json()) as Document
})
afterAll(() => gateway.stop())

test('it is made in turns, between which others are served', async () => {
  const fresh = await startGateway()
  const turnsUs: number[] = []
  let isMade = false
  const look = (before = process.threadCpuUsage()) => {
    const { user, system } = process.threadCpuUsage(before)
    turnsUs.push(user + system)
    if (!isMade) setImmediate(look, process.threadCpuUsage())
  }
  look()
  await (await fresh.request('GET', '/openapi.json')).arrayBuffer()
  isMade = true
  await fresh.stop()
  const long = turnsUs.filter((us) => us > 1000)
  expect(Math.max(...long)).toBeLessThan(long.reduce((sum, us) => sum + us) / 2)
})

const isNullable = ({ type }: Schema) => [type].flat().includes('null')

/** What clients were written for: method, path, status, and the record where there is one. */
const operations = `
GET /processes 200 ProcessesPaginatedResult
POST /processes 201 Process
GET /processes/summaries 200 ProcessSummariesPaginatedResult
GET /processes/{identifier} 200 Process
PATCH /processes/{identifier} 200 Process
DELETE /processes/{identifier} 200
GET /processes/{identifier}/versions 200 VersionedProcessesPaginatedResult
POST /processes/{identifier}/versions 201 VersionedProcess
GET /processes/{identifier}/versions/{versionId} 200 VersionedProcess
DELETE /processes/{identifier}/versions/{versionId} 200
GET /processes/{identifier}/aliases 200 VersionedProcessAliasesPaginatedResult
POST /processes/{identifier}/aliases 201 VersionedProcessAlias
GET /processes/{identifier}/aliases/{aliasId} 200 VersionedProcessAlias
PATCH /processes/{identifier}/aliases/{aliasId} 200 VersionedProcessAlias
DELETE /processes/{identifier}/aliases/{aliasId} 200
GET /modules 200 ModulesPaginatedResult
POST /modules 201 Module
GET /modules/{id} 200 Module
PATCH /modules/{id} 200 Module
DELETE /modules/{id} 200
GET /modules/{moduleId}/versions 200 VersionedModulesPaginatedResult
POST /modules/{moduleId}/versions 201 VersionedModule
GET /modules/{moduleId}/versions/{versionId} 200 VersionedModule
DELETE /modules/{moduleId}/versions/{versionId} 200
GET /modules/{moduleId}/aliases 200 VersionedModuleAliasesPaginatedResult
POST /modules/{moduleId}/aliases 201 VersionedModuleAlias
GET /modules/{moduleId}/aliases/{aliasId} 200 VersionedModuleAlias
PATCH /modules/{moduleId}/aliases/{aliasId} 200 VersionedModuleAlias
DELETE /modules/{moduleId}/aliases/{aliasId} 200
POST /processes/{identifier}/execute 202 ExecutionId
POST /processes/{identifier}/execute-sync 203
POST /executions/{id}/rerun 202
GET /executions 200 ExecutionsPaginatedResult
GET /executions/statistics 200 Statistics
GET /executions/{id} 200 Execution
GET /executions/{id}/logs 200 ExecutionLogsPaginatedResult
PUT /executions/{id}/kill 202
GET /events 200 TeamEvent
POST /processes/{identifier}/schedule 201 Schedule
GET /schedules 200 SchedulesPaginatedResult
GET /schedules/{id} 200 Schedule
PATCH /schedules/{id} 200 Schedule
DELETE /schedules/{id} 200
PUT /schedules/{id}/pause 200
PUT /schedules/{id}/resume 200
GET /variables 200 TeamVariablesPaginatedResult
POST /variables 201 TeamVariable
PATCH /variables/{id} 200 TeamVariable
DELETE /variables/{id} 200
GET /dependencies/{language} 200 ProgrammingLanguageManifest
PUT /dependencies/{language} 200 ProgrammingLanguageManifest
POST /dependencies/{language}/install 200
DELETE /dependencies/{language}/install 200 ProgrammingLanguageManifest
GET /sandboxes 200 SandboxesPaginatedResult
POST /sandboxes 201 Sandbox
GET /sandboxes/images 200
GET /sandboxes/{sandboxId} 200 Sandbox
POST /sandboxes/{sandboxId} 200 Sandbox
POST /sandboxes/{sandboxId}/kill 200 Sandbox
GET /storage/objects 200
POST /storage/objects 204
GET /storage/objects/{filename} 200
DELETE /storage/objects/{filename} 204
GET /storage/usage 200 StorageUsage
POST /storage/signed-urls 200 SignedUrl
POST /storage/uploads 201 StorageUpload
GET /storage/uploads 200
GET /storage/uploads/{id} 200 StorageUpload
PUT /storage/uploads/{id}/parts/{number} 200 StorageUploadPart
POST /storage/uploads/{id}/complete 200 StorageObject
DELETE /storage/uploads/{id} 204
GET /storage/signed/{filename} 200
GET /datastore 200 DatastorePaginatedResult
GET /limits 200 Limits
GET /usage 200 Usage
GET /team 200 Team
PATCH /team 200 Team
GET /audit-events 200 AuditEventsPaginatedResult
POST /auth/token 200 Token
`

describe('the document', () => {
  test('has every operation that clients were written for', () => {
    const found = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.entries(responses).map(([status, { content = {} }]) => {
          const record = Object.values(content)[0]?.schema.$ref?.split('/').at(-1)
          const words = [method.toUpperCase(), path.replace('/api/{team}/rest', ''), status, record]
          return words.filter(Boolean).join(' ')
        }),
      ),
    )
    expect(
      operations
        .trim()
        .split('\n')
        .filter((row) => !found.includes(row)),
    ).toEqual([])
  })

  test('names every object that has fields, whether a call has it or another object', () => {
    const inline: string[] = []
    const walk = (node: unknown, at: string) => {
      if (typeof node !== 'object' || node === null) return
      const isNamed = /^components schemas \S+$/.test(at) || at.endsWith('allOf 1')
      if (!isNamed && 'properties' in node && Object.keys(node.properties as object).length > 0 && 'type' in node)
        inline.push(at)
      for (const [name, inner] of Object.entries(node)) if (name !== 'example') walk(inner, `${at} ${name}`.trim())
    }
    walk({ paths: document.paths, components: document.components }, '')
    expect(inline).toEqual([])
  })

  test('has no record that may itself be null', () => {
    const nullable = Object.entries(document.components.schemas).filter(([, schema]) => isNullable(schema))
    expect(nullable.map(([name]) => name)).toEqual([])
  })

  test('says how many a list may have', () => {
    const mostOf = (schema: string, name: string) => document.components.schemas[schema]?.properties?.[name]?.maxItems
    expect(mostOf('UpdateTeamInput', 'parentTeamSlugs')).toBe(5)
    expect(mostOf('UpdateTeamInput', 'allowedAddresses')).toBe(100)
    expect(mostOf('CreateProcessInput', 'tags')).toBe(100)
  })

  test('calls every refusal a Problem, whose faults have names', () => {
    expect(document.components.schemas['Problem']?.properties?.['errors']).toMatchObject({
      type: 'array',
      items: { $ref: '#/components/schemas/FieldFault' },
    })
    for (const [path, methods] of Object.entries(document.paths))
      for (const { responses } of Object.values(methods))
        for (const [status, response] of Object.entries(responses).filter(([key]) => /^[45]/.test(key))) {
          const shared = document.components.responses[response.$ref?.split('/').at(-1) ?? ''] ?? response
          const schema = shared.content?.['application/problem+json']?.schema
          const [problem, own] = schema?.allOf ?? []
          expect(problem, `${path} ${status}`).toEqual({ $ref: '#/components/schemas/Problem' })
          expect(own?.properties?.['status']?.enum, `${path} ${status}`).toEqual([Number(status)])
          const { error, ...members } = own?.properties ?? {}
          for (const { type } of Object.values(members)) expect(type).toMatch(/^(integer|string)$/)
          if (error !== undefined) expect(error.type ?? error.$ref).toMatch(/^string$|\/CodeError$/)
        }
  })
})
