import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { repositoryRoot } from '../system/system.ts'
import { clientAt, installedIn, system, unique } from './installed.ts'

const slug = unique('greeting')
const environment = {
  PATH: process.env['PATH'],
  PAS_URL: system.host,
  PAS_TEAM: system.team,
  PAS_TOKEN: system.apiToken,
}

/** The example of a part of the guide, for this system and a process of its own. */
async function example(title: string): Promise<string> {
  const guide = await readFile(join(repositoryRoot, 'docs/guides/typescript-client.md'), 'utf8')
  const [, part = ''] = guide.split(`\n## ${title}\n`)
  const [, code = ''] = /^```ts\n(.*?)^```/ms.exec(part) ?? []
  return code.replaceAll("'greeting'", `'${slug}'`).replace(/new Client\(\{.*\}\)/, 'new Client()')
}

/** Runs modules in the folder where the package is installed; gives what the last one prints. */
async function printed(modules: Record<string, string>): Promise<string> {
  const at = join(installedIn!, unique('guide'))
  await mkdir(at)
  for (const [name, text] of Object.entries(modules)) await writeFile(join(at, name), text)
  const last = join(at, Object.keys(modules).at(-1)!)
  return (await promisify(execFile)(process.execPath, [last], { env: environment })).stdout
}

describe.skipIf(installedIn === undefined)('the guide of the TypeScript client', () => {
  beforeAll(async () => {
    const pas = clientAt()
    const sourceCode = `const { name } = svc.context.parameters
      if (!name) throw new TypeError('no name')
      console.log('greeting ' + name)
      return { text: 'Hello, ' + name }`
    await pas.processes.create({ name: slug, sourceCode })
    const version = await pas.processes.versions.publish(slug, { tag: 'v1' })
    await pas.processes.aliases.create(slug, { name: 'live', versionId: version.id })
  })

  test('starts a run, follows its log and prints its value', async () => {
    expect(await printed({ 'main.ts': await example('Start and follow a run') })).toBe(
      'INFO greeting Ada\nHello, Ada\n',
    )
  })

  test('answers from a route: the value, or which run failed', async () => {
    const call = `import { POST } from './route.ts'
      for (const body of [{ name: 'Ada' }, {}]) {
        const response = await POST(new Request('http://localhost', { method: 'POST', body: JSON.stringify(body) }))
        console.log(response.status, await response.text())
      }`
    const lines = await printed({ 'route.ts': await example('From a Next.js route'), 'main.ts': call })
    expect(lines).toMatch(/^200 \{"text":"Hello, Ada"\}\n502 \{"execution":"[\w-]{36}"\}\n$/)
  })
})
