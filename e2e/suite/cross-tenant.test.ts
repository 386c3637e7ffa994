import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer, Client } from '../client/client.ts'
import { Belongings, type Kind } from '../cross-tenant/belongings.ts'
import { essenceOf, lookAt } from '../cross-tenant/look.ts'
import { operationsOf, type Operation } from '../client/document.ts'
import { namingOf } from '../cross-tenant/naming.ts'
import { probesOf, rightRequest } from '../cross-tenant/probes.ts'
import { ask, textOf, type Values } from '../cross-tenant/request.ts'
import { newWord } from '../cross-tenant/things.ts'
import { client, hasOther, other, shared } from './shared-system.ts'
// In the same file, as both look whether anything of the first team has changed: one after the other.
import './mcp-cross-tenant.ts'

// A terminal is a WebSocket, whose tests are with it (sandbox-shell.test.ts).
const operations = (await operationsOf(shared.host)).filter(({ path }) => !path.endsWith('/terminal'))
const byResource = Object.entries(Object.groupBy(operations, ({ path }) => resourceOf(path))).map(
  ([resource, some = []]) => [resource, some] as const,
)
const named = (some: readonly Operation[]) => some.map((operation) => [operation.name, operation] as const)

test('every input of every operation is known to name something of a team, or to name nothing', () => {
  const unknown = operations.flatMap((operation) =>
    operation.inputs
      .filter((input) => namingOf(operation, input) === 'unknown')
      .map(({ location, name }) => `${operation.name} ${location} ${name}`),
  )
  expect(unknown).toEqual([])
})

describe.skipIf(!hasOther)('another team that calls', { concurrent: false }, () => {
  const owner = new Belongings(client, shared.main.apiToken)
  /** For what only reads: nothing that it is asked about is changed. */
  const reader = new Belongings(other, shared.other?.apiToken ?? '')
  let theirs: string[]
  /** What the owner has: nobody changes it. */
  let seen: Awaited<ReturnType<typeof lookAt>>
  let count = 0

  beforeAll(async () => {
    const words = [owner.secret]
    for (const kind of Object.keys(owner.names) as Kind[]) {
      const names = await owner.names[kind]()
      if (kind !== 'team' && kind !== 'language') words.push(...names)
    }
    theirs = words
    seen = await lookAt(owner)
  })
  afterAll(async () => {
    console.log(`${count} probes of ${operations.length} operations`)
    await owner.remove()
    await reader.remove()
  })

  /** Nothing of the owner is in an answer, but what the other team asked with. */
  const expectNothingOf = ({ headers, text }: Answer, asked: readonly string[] = []) => {
    const said = `${JSON.stringify([...headers])} ${text}`
    for (const word of theirs.filter((one) => !asked.includes(one))) expect(said).not.toContain(word)
  }

  describe.for(byResource)('%s', ([, some]) => {
    test.for(named(some))('%s finds of another team no more than if it were not there', async ([, operation]) => {
      const own = operation.method === 'GET' ? reader : new Belongings(other, shared.other?.apiToken ?? '')
      try {
        for (const { about, naming, asked, absent, probe, control } of await probesOf(operation, own, owner)) {
          const answers = [await ask(operation, probe, other), await ask(operation, control, other)] as const
          await undo(operation, probe, answers[0], other)
          await undo(operation, control, answers[1], other)
          count += 1
          const given = [...probe.values()].map(textOf)
          expectNothingOf(answers[0], given)
          expect(essenceOf(answers[0], asked), `${about} ${asked}`).toEqual(essenceOf(answers[1], absent))
          const { status, text } = answers[0]
          if (naming.answer === 'refused') expect([401, 403, 404, 400], `${about} ${asked}: ${text}`).toContain(status)
          else expect([200, 201, 202, 203, 204], `${about} ${asked}: ${text}`).toContain(status)
        }
        if (operation.path.includes('/storage/signed/') && !(await own.linksLeadHere())) return
        const values = await rightRequest(operation, own)
        const right = await ask(operation, values, other)
        await undo(operation, values, right, other)
        expect(right.status, `the same request for things of its own: ${right.text}`).toBeLessThan(300)
        expectNothingOf(right)
      } finally {
        if (own !== reader) await own.remove()
      }
    })

    // Once behind all of them: a look is two dozen requests.
    test('has changed nothing of another team by all of them', async () => {
      expect(await lookAt(owner)).toEqual(seen)
    })
  })

  const ofLanguages = operations.filter(({ inputs }) => inputs.some(({ name }) => name === 'language'))
  test.for(named(ofLanguages))(
    '%s is told and does the same whatever another team has staged',
    async ([, operation]) => {
      const own = new Belongings(other, shared.other?.apiToken ?? '')
      for (const language of await owner.names.language()) {
        const values = await rightRequest(operation, own)
        for (const input of values.keys())
          if (input.name === 'language') (values as Map<typeof input, unknown>).set(input, language)
        const answerWhile = async (staged: Record<string, string>) => {
          await owner.stage(language, staged)
          await own.unstage(language)
          const staging = async () => (await client.get(`/dependencies/${language}`)).text
          const before = await staging()
          const answer = await ask(operation, values, other)
          expect(await staging()).toBe(before)
          return answer
        }
        const packages = { [newWord('package')]: '1.0.0' }
        const [control, probe] = [await answerWhile({}), await answerWhile(packages)]
        count += 1
        expect(essenceOf(probe, language)).toEqual(essenceOf(control, language))
        expect(probe.text).not.toContain(Object.keys(packages)[0])
      }
      await own.remove()
    },
  )

  test('has changed nothing else of another team by what is asked of packages', async () => {
    const others = (look: typeof seen) => Object.entries(look).filter(([path]) => !path.startsWith('/dependencies/'))
    expect(others(await lookAt(owner))).toEqual(others(seen))
  })

  test('a link opens nothing of another team, not even what has the same name', async () => {
    const [filename = ''] = await owner.names.object()
    await other.call('POST', '/storage/objects', { query: { filename }, body: 'of the other team' })
    const { url } = (await other.post<{ url: string }>('/storage/signed-urls', { path: filename })).body
    expect(await (await fetch(url)).text()).toBe('of the other team')
    const changed = new URL(url)
    changed.pathname = changed.pathname.replace(`/${other.address.team}/`, `/${client.address.team}/`)
    expect(changed.href).not.toBe(url)
    expect((await fetch(changed)).status).toBe(403)
    await other.delete(`/storage/objects/${filename}`)
  })
})

/** The first word of an address behind that of the team. */
function resourceOf(path: string): string {
  return path.replace(/^\/api\/\{team\}\/(rest\/)?/, '').split('/')[0]!
}

/** Removes what a request of a client made, by the answer to it. What is below something else goes with that. */
async function undo({ method, path }: Operation, given: Values, answer: Answer, by: Client): Promise<void> {
  const list = path.replace(/^.*\/rest/, '')
  const { status, body } = answer
  if (method !== 'POST' || status >= 300) return
  const id = typeof body === 'object' && body !== null && 'id' in body ? String(body.id) : ''
  if (/^\/(processes|modules|variables)$/.test(list)) await by.delete(`${list}/${id}`)
  if (list === '/auth/service-accounts') await by.delete(`${list}/${id}`)
  if (list === '/sandboxes') await by.post(`${list}/${id}/kill`)
  if (list === '/storage/uploads') await by.delete(`${list}/${id}`)
  if (list.endsWith('/complete')) await by.delete(`/storage/objects/${(body as { name: string }).name}`)
  if (list === '/storage/objects')
    for (const [{ location }, name] of given)
      if (location === 'query') await by.delete(`${list}/${encodeURIComponent(textOf(name))}`)
}
