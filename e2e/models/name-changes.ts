import * as fc from 'fast-check'
import type { Alias, Version } from '../client/records.ts'
import { agree, expectAnswer } from './agree.ts'
import {
  aliasesOf,
  find,
  forget,
  isTaken,
  published,
  reference,
  some,
  textOf,
  value,
  word,
  type Names,
  type OnNames,
  type Reference,
} from './known-names.ts'
import { nth, steps } from './machine.ts'

const publish = steps<Names, OnNames, [string, number]>('publish', fc.tuple(word, value), ([tag, value]) => ({
  run: async (names, { client, owner }) => {
    const body = { tag, sourceCode: owner.sourceOf(value) }
    const answer = await client.post<Version>(`${owner.path}/versions`, body)
    if (isTaken(names, tag)) return expectAnswer(answer, owner.refusals.tag, 'a tag that is taken')
    expectAnswer(answer, ['201'], 'publishing')
    agree([answer.body.tag, answer.body.sourceCode], [tag, body.sourceCode], 'the version')
    published(names, { client }, answer.body, value)
  },
}))

const removeVersion = steps<Names, OnNames, Reference>('delete a version', reference, (given) => ({
  run: async (names, { client, owner }) => {
    const text = textOf(given, names)
    const version = find(names, text)
    const answer = await client.delete(`${owner.path}/versions/${text}`)
    if (version === undefined) return expectAnswer(answer, ['404 version_not_found'], 'a version that is not there')
    const pointing = aliasesOf(names, version.id)
    if (pointing.length === 0) {
      expectAnswer(answer, ['200'], 'deleting a version')
      forget(names, version)
    } else {
      agree(answer.status, 400, 'a version that has aliases')
      agree(
        pointing.some(({ name }) => answer.text.includes(name)),
        true,
        'the refusal names an alias',
      )
    }
  },
}))

const point = steps<Names, OnNames, [string, Reference]>('point', fc.tuple(word, reference), ([name, given]) => ({
  run: async (names, { client, owner }) => {
    const text = textOf(given, names)
    const version = find(names, text)
    const answer = await client.post<Alias>(`${owner.path}/aliases`, { name, versionId: text })
    const refusals = [
      ...(version === undefined ? ['404 version_not_found'] : []),
      ...(isTaken(names, name) ? owner.refusals.name : []),
    ]
    if (refusals.length > 0 || version === undefined) return expectAnswer(answer, refusals, 'an alias that may not be')
    expectAnswer(answer, ['201'], 'making an alias')
    agree([answer.body.name, answer.body.versionId], [name, version.id], 'the alias')
    client.trace.name(answer.body.id, `alias${name}`)
    names.aliases.push({ id: answer.body.id, name, versionId: version.id })
  },
}))

const change = steps<Names, OnNames, [number, string | undefined, Reference | undefined]>(
  'change an alias',
  fc.tuple(some, fc.option(word, { nil: undefined }), fc.option(reference, { nil: undefined })),
  ([n, name, given]) => ({
    may: ({ aliases }) => aliases.length > 0,
    run: async (names, { client, owner }) => {
      const alias = nth(names.aliases, n)
      const text = given && textOf(given, names)
      const version = text === undefined ? alias.versionId : find(names, text)?.id
      const answer = await client.patch<Alias>(`${owner.path}/aliases/${alias.id}`, { name, versionId: text })
      const isNew = name !== undefined && name !== alias.name
      const refusals = [
        ...(version === undefined ? ['404 version_not_found'] : []),
        ...(isNew && isTaken(names, name) ? owner.refusals.name : []),
      ]
      if (refusals.length > 0 || version === undefined)
        return expectAnswer(answer, refusals, 'a change that may not be')
      expectAnswer(answer, ['200'], 'changing an alias')
      Object.assign(alias, { name: name ?? alias.name, versionId: version })
      agree([answer.body.name, answer.body.versionId], [alias.name, alias.versionId], 'the changed alias')
    },
  }),
)

const removeAlias = steps<Names, OnNames, number>('delete an alias', some, (n) => ({
  may: ({ aliases }) => aliases.length > 0,
  run: async (names, { client, owner }) => {
    const alias = nth(names.aliases, n)
    const path = `${owner.path}/aliases/${alias.id}`
    expectAnswer(await client.delete(path), ['200'], 'deleting an alias')
    names.aliases = names.aliases.filter((each) => each !== alias)
    for (const answer of [await client.get(path), await client.delete(path), await client.patch(path, {})])
      expectAnswer(answer, ['404 alias_not_found'], 'an alias that is gone')
  },
}))

export const changeSteps = [publish, publish, removeVersion, point, point, change, change, removeAlias]
