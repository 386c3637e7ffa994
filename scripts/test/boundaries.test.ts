import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mayByTag, projects } from '../boundaries.ts'
import { importFaults, type SourceFile } from '../check/imports.ts'

const root = resolve(import.meta.dirname, '../..')

const refused: SourceFile[] = [
  { path: 'libs/errors/src/a.ts', text: `import { served } from '@automation/rpc'` },
  { path: 'libs/rpc/src/a.ts', text: `import { Environment } from '@automation/service'` },
  { path: 'libs/service/src/a.ts', text: `import { openDatabase } from '@automation/database'` },
  { path: 'libs/events/src/a.ts', text: `import { createExecution } from '@automation/execution'` },
  { path: 'libs/database/src/a.ts', text: `import type { seed } from '@automation/testing'` },
  { path: 'libs/database/src/b.ts', text: `export { Client } from '@grpc/grpc-js'` },
  { path: 'apps/gateway/src/a.ts', text: `import { createExecution } from '@automation/execution'` },
  { path: 'apps/gateway/src/b.ts', text: `import { createExecution } from '../../execution/src/service.ts'` },
  { path: 'apps/gateway/test/a.test.ts', text: `import { createExecution } from '@automation/execution'` },
  { path: 'apps/execution/src/a.ts', text: `import { Hono } from 'hono'` },
  { path: 'apps/execution/src/b.ts', text: `import { logger } from 'hono/logger'` },
  { path: 'apps/execution/src/c.ts', text: `import { Kafka } from 'kafkajs'` },
  { path: 'apps/execution/src/d.ts', text: `import { Client } from 'minio'` },
  { path: 'apps/execution/src/accept/a.ts', text: `import type pg from 'pg'` },
  { path: 'apps/execution/src/store/b.ts', text: `import { PrismaClient } from '@prisma/client'` },
  { path: 'apps/runner/src/a.ts', text: `import { KubeConfig } from '@kubernetes/client-node'` },
  { path: 'apps/runner/src/b.ts', text: `import { Failure } from '../../../libs/errors/src/failure.ts'` },
  { path: 'apps/process-catalog/src/rpc.ts', text: `import { PrismaClient } from '../prisma/generated/client.ts'` },
  { path: 'apps/embedded/src/a.ts', text: `import { seed } from '@automation/testing'` },
  { path: 'e2e/test/a.test.ts', text: `import { Failure } from '@automation/errors'` },
  { path: 'bench/src/a.ts', text: `import { Environment } from '@automation/service'` },
]

const allowed: SourceFile[] = [
  { path: 'libs/rpc/src/ok.ts', text: `import { Failure } from '@automation/errors'` },
  { path: 'libs/rpc/test/ok.test.ts', text: `import { seed } from '@automation/testing'` },
  { path: 'apps/gateway/src/ok.ts', text: `import { Hono } from 'hono'` },
  { path: 'apps/gateway/test/ok.test.ts', text: `import { createGateway } from '../src/service.ts'` },
  { path: 'apps/execution/src/ok.ts', text: `import { ProcessSchema } from '@automation/contract/catalog/v1/process'` },
  { path: 'apps/execution/src/store/ok.ts', text: `import pg from 'pg'` },
  { path: 'apps/execution/test/ok.test.ts', text: `import pg from 'pg'` },
  { path: 'apps/process-catalog/src/store.ts', text: `import { PrismaClient } from '../prisma/generated/client.ts'` },
  {
    path: 'apps/process-catalog/src/store/ok.ts',
    text: `import { PrismaClient } from '../../prisma/generated/client.ts'`,
  },
  { path: 'apps/embedded/src/ok.ts', text: `import { createRunner } from '@automation/runner'` },
]

describe('the lint rules made from the table', () => {
  let copy: string
  let reported: Set<string>

  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'boundaries-'))
    const sources = ['oxlint.config.ts', 'tsconfig.json', 'tsconfig.base.json', 'package.json', 'scripts/boundaries.ts']
    await Promise.all(sources.map((path) => cp(join(root, path), join(copy, path))))
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
    await Promise.all([...refused, ...allowed].map(({ path, text }) => plant(join(copy, path), text)))
    reported = await restrictedImportsIn(copy)
  })

  afterAll(() => rm(copy, { recursive: true }))

  test.each(refused)('refuse $text in $path', ({ path }) => expect(reported).toContain(path))
  test.each(allowed)('allow $text in $path', ({ path }) => expect(reported).not.toContain(path))
})

describe('the check of imports made from the table', () => {
  const everything = { has: () => true } as unknown as ReadonlySet<string>
  const faults = (file: SourceFile) => importFaults([file], async () => everything)

  test.each(refused)('refuses $text in $path', async (file) => expect(await faults(file)).toHaveLength(1))
  test.each(allowed)('allows $text in $path', async (file) => expect(await faults(file)).toEqual([]))

  test('refuses a dynamic import too', async () => {
    const file = { path: 'apps/gateway/src/a.ts', text: `await import('@automation/runner')` }
    expect(await faults(file)).toHaveLength(1)
  })

  test('refuses what the workspace does not declare', async () => {
    const file = { path: 'apps/gateway/src/a.ts', text: `import { v7 } from 'uuid'` }
    expect(await importFaults([file], async () => new Set())).toEqual([
      `apps/gateway/src/a.ts: imports uuid, which apps/gateway/package.json doesn't declare`,
    ])
  })

  test('refuses a workspace that has no row', async () => {
    expect(await importFaults([{ path: 'apps/other/src/a.ts', text: '' }], async () => everything)).toHaveLength(1)
  })
})

describe('the tags of Nx', () => {
  const tags = new Map(
    globSync('{libs/*,apps/*,e2e,bench}/package.json', { cwd: root }).map((path) => {
      const { nx } = JSON.parse(readFileSync(join(root, path), 'utf8')) as { nx?: { tags?: string[] } }
      return [dirname(path), nx?.tags ?? []] as const
    }),
  )
  const tagOf = (name: string) => [...tags].find(([folder]) => folder.split('/').at(-1) === name)?.[1][0]
  const workspaces = projects.filter(({ folder }) => tags.has(folder))

  test('are one for each workspace, and each workspace has a row', () => {
    expect(workspaces.map(({ folder }) => folder).toSorted()).toEqual([...tags.keys()].toSorted())
    for (const [folder, each] of tags)
      expect([folder, each]).toEqual([folder, [expect.toBeOneOf(Object.keys(mayByTag))]])
  })

  test.each(workspaces)('allow all that the row of $folder allows', ({ folder, may }) => {
    const beyond = may.filter((name) => !mayByTag[tags.get(folder)![0]!]!.includes(tagOf(name)!))
    expect(beyond).toEqual([])
  })
})

async function plant(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `${text}\n`)
}

interface Diagnostic {
  code: string
  filename: string
}

async function restrictedImportsIn(folder: string): Promise<Set<string>> {
  const output = await new Promise<string>((done) => {
    const args = [join(root, 'node_modules/.bin/oxlint'), '-f', 'json', 'apps', 'libs', 'e2e', 'bench']
    execFile(process.execPath, args, { cwd: folder }, (_, stdout) => done(stdout))
  })
  const { diagnostics } = JSON.parse(output) as { diagnostics: Diagnostic[] }
  const restricted = diagnostics.filter(({ code }) => code.includes('no-restricted-imports'))
  return new Set(restricted.map(({ filename }) => filename))
}
