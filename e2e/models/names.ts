import * as fc from 'fast-check'
import type { Alias, Page, Version } from '../client/records.ts'
import { agree, wordOf } from './agree.ts'
import {
  aliasOf,
  find,
  word,
  type Names,
  type OnNames,
  aliasesOf,
  forget,
  isTaken,
  published,
  some,
} from './known-names.ts'
import { plainSteps, steps, type Machine, nth } from './machine.ts'
import { changeSteps } from './name-changes.ts'
import { moduleOwner, processOwner, type Owner } from './name-owners.ts'

const run = steps<Names, OnNames, string>('run', word, (name) => ({
  run: async (names, { client, owner }) => {
    const version = find(names, aliasOf(names, name)?.versionId ?? name)
    agree(await owner.valueOf(client, name), version?.value, `what ${name} runs`)
  },
}))

const list = plainSteps<Names, OnNames>('list', {
  run: async (names, { client, owner }) => {
    const versions = (await client.get<Page<Version>>(`${owner.path}/versions`, { limit: 100 })).body
    agree(
      versions.data.map(({ id, tag }) => [id, tag]),
      names.versions.map(({ id, tag }) => [id, tag]).toReversed(),
      'versions, newest first',
    )
    const aliases = (await client.get<Page<Alias>>(`${owner.path}/aliases`, { limit: 100 })).body
    const wanted = names.aliases.map(({ id, name, versionId }) => [id, name, versionId]).toReversed()
    agree(
      aliases.data.map(({ id, name, versionId }) => [id, name, versionId]),
      wanted,
      'aliases, newest first',
    )
    agree([versions.total, aliases.total], [names.versions.length, names.aliases.length], 'the totals')
    for (const { id, tag, value } of names.versions) {
      const { body } = await client.get<Version>(`${owner.path}/versions/${tag}`)
      agree([body.id, body.sourceCode], [id, owner.sourceOf(value)], 'a version by its tag')
    }
  },
})

/** A tag and an alias of one name at once: one of them is there. */
const sameName = steps<Names, OnNames, [string, number]>(
  'publish and point at once',
  fc.tuple(word, some),
  ([name, n]) => ({
    may: (names) => names.versions.length > 0 && !isTaken(names, name),
    run: async (names, { client, owner }) => {
      const { id: versionId } = nth(names.versions, n)
      const [version, alias] = await Promise.all([
        client.post<Version>(`${owner.path}/versions`, { tag: name, sourceCode: owner.sourceOf(n) }),
        client.post<Alias>(`${owner.path}/aliases`, { name, versionId }),
      ])
      const made = [version, alias].filter(({ status }) => status === 201).length
      agree(made, 1, `who has the name: ${wordOf(version)} and ${wordOf(alias)}`)
      if (version.status === 201) published(names, { client }, version.body, n)
      else names.aliases.push({ id: alias.body.id, name, versionId })
    },
  }),
)

/** A version is deleted while an alias is pointed at it: never is there an alias of nothing. */
const deleteAndPoint = steps<Names, OnNames, [string, number]>(
  'delete and point at once',
  fc.tuple(word, some),
  ([name, n]) => ({
    may: (names) => names.versions.some(({ id }) => aliasesOf(names, id).length === 0) && !isTaken(names, name),
    run: async (names, { client, owner }) => {
      const version = nth(
        names.versions.filter(({ id }) => aliasesOf(names, id).length === 0),
        n,
      )
      const [deleted, alias] = await Promise.all([
        client.delete(`${owner.path}/versions/${version.id}`),
        client.post<Alias>(`${owner.path}/aliases`, { name, versionId: version.id }),
      ])
      const both = `${deleted.status} and ${wordOf(alias)}`
      if (deleted.status === 200) {
        agree(both, '200 and 404 version_not_found', 'deleting and pointing')
        forget(names, version)
      } else {
        agree(both, '400 and 201', 'deleting and pointing')
        names.aliases.push({ id: alias.body.id, name, versionId: version.id })
      }
    },
  }),
)

const raceSteps = [sameName, deleteAndPoint]

const machine = (
  name: string,
  runs: number,
  make: (client: OnNames['client']) => Promise<Owner>,
): Machine<Names, OnNames> => ({
  name,
  maxSteps: 40,
  runs,
  steps: [...changeSteps, run, list, ...raceSteps],
  begin: async (client) => ({
    model: { versions: [], aliases: [], gone: [] },
    real: { client, owner: await make(client) },
  }),
  end: async (names, real) => {
    const { client, owner } = real
    const versions = (await client.get<Page<Version>>(`${owner.path}/versions`, { limit: 100 })).body
    agree(
      versions.data.map(({ id }) => id),
      names.versions.map(({ id }) => id).toReversed(),
      'the versions in the end',
    )
    await owner.remove(client)
  },
})

export const processNames = machine('processNames', 40, processOwner)
export const moduleNames = machine('moduleNames', 15, moduleOwner)
