import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { accessToken, StandIn } from './stand-in.ts'

describe('pas context', () => {
  const there = (url: string) => ({ url, team: 'demo' })
  const json = { 'content-type': 'application/json' }
  const nothing = JSON.stringify({ status: 404, code: 'not_found', detail: 'No such path' })
  const env = { PAS_URL: '', PAS_TEAM: '' }
  async function withContexts(contexts: Record<string, { url: string; team: string }>) {
    const standIn = await StandIn.that((_, response) => response.writeHead(404, json).end(nothing))
    const folder = join(standIn.folder, '.config/pas')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'contexts.json'), JSON.stringify({ current: 'home', contexts }))
    return standIn
  }

  test('use says where commands of a folder with a context of its own go, and list marks that one', async () => {
    await using standIn = await withContexts({
      home: there('https://home.example'),
      staging: there('https://staging.example'),
    })
    const used = () => standIn.start(['context', 'use', 'staging'], env).ended
    expect((await used()).stderr).toBe('Commands are for the team demo at https://staging.example now.\n')
    const project = 'layout: 1\ncontexts:\n  prod: { url: https://prod.example, team: shop }\n'
    await writeFile(join(standIn.folder, 'pas.yaml'), project)
    const { code, stderr } = await used()
    expect([code, stderr]).toEqual([0, expect.stringContaining('stay with the team shop at https://prod.example')])
    expect(stderr).toContain('--context staging')
    const { stdout } = await standIn.start(['context', 'list', '--json'], env).ended
    const marked = (JSON.parse(stdout) as { name: string; current: boolean }[]).filter(({ current }) => current)
    expect(marked.map(({ name }) => name)).toEqual(['prod'])
  })

  test('of another address than PAS_URL gets no PAS_TOKEN, but the token that is stored for it', async () => {
    await using standIn = await withContexts({})
    const folder = join(standIn.folder, '.config/pas')
    await writeFile(join(folder, 'contexts.json'), JSON.stringify({ contexts: { here: there(standIn.url) } }))
    const get = (PAS_URL: string, ...more: string[]) =>
      standIn.start(['--context', 'here', ...more, 'api', 'GET', '/x'], { PAS_URL }).ended
    for (const more of [[], ['--team', 'other']]) {
      const { code, stderr } = await get('https://ci.example', ...more)
      expect([code, stderr]).toEqual([4, expect.stringContaining('PAS_TOKEN is for PAS_URL')])
    }
    expect(standIn.requests).toEqual([])
    for (const own of [`${standIn.url}/`, '']) await get(own)
    await standIn.signIn({ kind: 'device', accessToken, expiresAt: Date.now() + 3_600_000 })
    await get('https://ci.example')
    expect(standIn.requests).toEqual(Array(3).fill('GET /api/demo/rest/x'))
  })

  test('remove keeps the token that another context has, too', async () => {
    await using standIn = await withContexts({})
    const here = there(standIn.url)
    const folder = join(standIn.folder, '.config/pas')
    await writeFile(join(folder, 'contexts.json'), JSON.stringify({ contexts: { one: here, two: here } }))
    await standIn.signIn({ kind: 'apiToken', apiToken: 'sk-kept' })
    const stored = () => readFile(join(folder, 'credentials.json'), 'utf8')
    expect((await standIn.start(['context', 'remove', 'one'], env).ended).stderr).toContain('that of two')
    expect(await stored()).toContain('sk-kept')
    expect((await standIn.start(['context', 'remove', 'two'], env).ended).code).toBe(0)
    expect(await stored()).not.toContain('sk-kept')
  })
})
