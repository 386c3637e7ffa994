import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { accessToken, StandIn } from './stand-in.ts'

const answerTo = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{}}`

test('pas mcp renews a token that is refused, once for all that were refused with it', async () => {
  const seen: string[] = []
  await using service = await StandIn.that((request, response) => {
    const issuer = `http://${request.headers.host}`
    const answers: Record<string, () => object> = {
      'GET /.well-known/openid-configuration': () => ({ issuer, token_endpoint: `${issuer}/token` }),
      'POST /token': () => ({ access_token: 'fresh', token_type: 'bearer', expires_in: 3600, refresh_token: 'next' }),
    }
    const known = answers[`${request.method} ${request.url}`]
    if (known !== undefined)
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(known()))
    const token = request.headers.authorization ?? ''
    seen.push(token)
    request.setEncoding('utf8').on('data', (body: string) => {
      if (token !== 'Bearer fresh') return response.writeHead(401).end()
      const { id } = JSON.parse(body) as { id: number }
      return response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(id))
    })
  })
  const expiresAt = Date.now() + 3_600_000
  const issued = { issuer: service.url, clientId: 'pas', accessToken, expiresAt, refreshToken: 'first' }
  await service.signIn({ kind: 'device', ...issued })
  const pas = service.start(['mcp'], { PAS_TOKEN: '' })
  for (const id of [1, 2]) pas.child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`)
  pas.child.stdin.end()
  const { code, stdout } = await pas.ended
  expect([code, stdout.trim().split('\n').toSorted()]).toEqual([0, [answerTo(1), answerTo(2)]])
  const each = [accessToken, 'fresh'].map((token) => `Bearer ${token}`)
  expect(seen.toSorted()).toEqual([...each, ...each].toSorted())
  expect(service.requests.filter((line) => line === 'POST /token')).toHaveLength(1)
})

test('pas mcp install prints a command whose words a shell takes as they are, whatever the repository names', async () => {
  await using service = await StandIn.that((_, response) => response.end())
  const [url, team] = ['https://x.example/a;touch$(id)', "it's; touch `id` \u001b[2J"]
  const contexts = { prod: { url, team } }
  await writeFile(join(service.folder, 'pas.yaml'), JSON.stringify({ layout: 1, contexts }))
  const { code, stdout } = await service.start(['mcp', 'install', 'claude-code'], { PAS_URL: '', PAS_TEAM: '' }).ended
  expect([code, stdout]).toEqual([0, expect.not.stringContaining('\u001b')])
  const words = execFileSync('sh', ['-c', `claude() { printf '%s\\n' "$@"; }; ${stdout}`], { encoding: 'utf8' })
  const shown = team.replace('\u001b[2J', '')
  expect(words).toBe(
    ['mcp', 'add', 'process-automation', '--', 'pas', '--url', url, '--team', shown, 'mcp', ''].join('\n'),
  )
  const plain = service.start(['mcp', 'install', 'claude-code'])
  expect((await plain.ended).stdout).toBe(
    `claude mcp add process-automation -- pas --url ${service.url} --team demo mcp\n`,
  )
})
