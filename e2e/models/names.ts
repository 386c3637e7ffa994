import type { Alias, Page, Version } from '../client/records.ts'
import { agree } from './agree.ts'
import { aliasOf, find, word, type Names, type OnNames } from './known-names.ts'
import { plainSteps, steps, type Machine } from './machine.ts'
import { changeSteps } from './name-changes.ts'
import { moduleOwner, processOwner, type Owner } from './name-owners.ts'
import { raceSteps } from './name-races.ts'

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
