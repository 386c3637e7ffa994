import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Language, Process } from '../client/records.ts'
import { Belongings } from '../cross-tenant/belongings.ts'
import { callingSources, codeCalls } from '../cross-tenant/code-calls.ts'
import { essenceOf, lookAt } from '../cross-tenant/look.ts'
import { absentLike } from '../cross-tenant/probes.ts'
import { newWord } from '../cross-tenant/things.ts'
import { makeProcess } from './runs.ts'
import { client, hasOther, other, shared } from './shared-system.ts'

const languages = ['JAVASCRIPT', 'PYTHON'] as const
const plainName = (name: string) => name.replaceAll(/[_ ]|\(.*/g, '').toLowerCase()

describe.skipIf(!hasOther)('another team whose code', { concurrent: false }, () => {
  const owner = new Belongings(client, shared.main.apiToken)
  const key = newWord('key')
  let theirKey: Process
  /** One for all calls of a language, so that it is warm. */
  let calling: Record<Language, Process>
  /** What the owner has: nobody changes it. */
  let seen: Awaited<ReturnType<typeof look>>
  let count = 0

  beforeAll(async () => {
    theirKey = await makeProcess({ sourceCode: `return svc.datastore.get('${key}')` })
    const keeps = await makeProcess({ sourceCode: `await svc.datastore.set('${key}', '${owner.secret}')` })
    expect((await client.post(`/processes/${keeps.id}/execute-sync`, {})).status).toBe(203)
    seen = await look()
    const made = languages.map(async (programmingLanguage) => {
      const sourceCode = callingSources[programmingLanguage].calls
      return [programmingLanguage, await makeProcess({ programmingLanguage, sourceCode }, other)] as const
    })
    calling = Object.fromEntries(await Promise.all(made)) as typeof calling
  })
  afterAll(async () => {
    console.log(`${count} probes of code`)
    await owner.remove()
  })

  const look = async () => {
    const kept = await client.post(`/processes/${theirKey.id}/execute-sync`, {})
    expect(kept.body).toBe(owner.secret)
    const seen = Object.entries(await lookAt(owner))
    // The whole team's, and other tests change them; nothing of svc reaches them.
    const ofAll = ['/dependencies/', '/auth/service-accounts']
    return Object.fromEntries(seen.filter(([path]) => !ofAll.some((start) => path.startsWith(start))))
  }
  const run = async (process: Process, parameters: object = {}) => {
    const answer = await other.post(`/processes/${process.id}/execute-sync`, { parameters })
    expect(answer.status, answer.text).toBe(203)
    expect(answer.text).not.toContain(owner.secret)
    return answer
  }
  /** The same of both, in the words of each. */
  const expectSame = async (ask: (word: string) => ReturnType<typeof run>, word: string) => {
    const absent = absentLike(word)
    const [probe, control] = [await ask(word), await ask(absent)]
    count += 1
    expect(essenceOf(probe, word), word).toEqual(essenceOf(control, absent))
    return probe.body
  }

  test.for(languages)('of %s calls functions: each of them is tried', async (programmingLanguage) => {
    const sourceCode = callingSources[programmingLanguage].functions
    const { body } = await run(await makeProcess({ programmingLanguage, sourceCode }, other))
    const tried = [...codeCalls.map(({ name }) => plainName(name)), 'import', 'importmodule']
    expect((body as string[]).filter((name) => !tried.includes(plainName(name)))).toEqual([])
    expect(body).toContain('storage.list')
  })

  const each = languages.flatMap((language) => codeCalls.map((call) => [language, call.name, call] as const))
  test.for(each)(
    'of %s says %s finds of another team no more than if it were not there',
    async ([language, , call]) => {
      const own = new Belongings(other, '')
      const [target = ''] = call.kind === 'pointer' ? await own.names.process() : []
      const says = (word: string, name = call.name) => run(calling[language], { call: name, word, own: target })
      for (const word of call.kind === 'key' ? [key] : await owner.names[call.kind]()) {
        const found = await expectSame(says, word)
        if (call.answer === 'refused') expect(found, word).toHaveProperty('message', expect.stringMatching(/not found/))
        else expect(found, word).toHaveProperty('value')
        if (call.undoneBy) await says(word, call.undoneBy)
      }
      const [mine = ''] = call.kind === 'key' ? [newWord('key')] : await own.names[call.kind]()
      expect((await says(mine)).body, 'the same with a thing of its own').toHaveProperty('value')
      await own.remove()
    },
  )

  // Once behind all of them: a look is two dozen requests.
  test('has changed nothing of another team by all of them', async () => {
    expect(await look()).toEqual(seen)
  })

  test.for([
    ['JAVASCRIPT', "found = svc.import('NAME')"],
    ['JAVASCRIPT', "found = require('NAME')"],
    ['JAVASCRIPT', "found = await import('NAME')"],
    ['PYTHON', 'found = svc.import_module("NAME")'],
    ['PYTHON', 'import NAME as found'],
  ] as [Language, string][])(
    'of %s says %s finds no module of another team, and holds none',
    async ([language, line]) => {
      const name = newWord('module').replace('-', '_')
      const sourceOf = { JAVASCRIPT: `exports.secret = '${owner.secret}'`, PYTHON: `secret = '${owner.secret}'` }[
        language
      ]
      const fields = { name, programmingLanguage: language, sourceCode: sourceOf }
      const { id } = (await client.post<{ id: string }>('/modules', fields)).body
      const ask = async (word: string) => {
        const statement = line.replace('NAME', word)
        const sourceCode =
          language === 'JAVASCRIPT'
            ? `let found; try { ${statement} } catch ({ message }) { return { message } }; return found.secret`
            : `try:\n    ${statement}\nexcept Exception as error:\n    return {"message": str(error)}\nreturn found.secret`
        return run(await makeProcess({ programmingLanguage: language, sourceCode }, other))
      }
      expect(await expectSame(ask, name)).toHaveProperty('message', expect.stringContaining(name))
      expect((await client.delete(`/modules/${id}`)).status).toBe(200)
      await other.post('/modules', { ...fields, sourceCode: sourceOf.replace(owner.secret, 'its own') })
      expect((await ask(name)).body).toBe('its own')
    },
  )
})
