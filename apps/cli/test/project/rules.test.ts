import { describe, expect, test } from 'vitest'
import { editYaml, readYaml } from '../../src/project/edit-yaml.ts'
import { mergeText, mergeTyped } from '../../src/project/merge-text.ts'
import { mergeValues, unknownBase, withChanges } from '../../src/project/merge-values.ts'
import { packagesText, readPackages } from '../../src/project/package-files.ts'
import { projectItems } from '../../src/project/project-items.ts'
import { movesBack, movesTo, type Owner } from '../../src/project/release-rules.ts'
import { repositoryName } from '../../src/project/repository.ts'
import { nameSchedules } from '../../src/project/server-items.ts'
import { defaultSchedule } from '../../src/project/states.ts'
import { stripTypes } from '../../src/project/strip-types.ts'
import { decide, type Compared } from '../../src/project/verdict.ts'
import { pythonTypes, typeScriptTypes } from '../../src/project/parameter-types.ts'

describe('an item', () => {
  const known = { isKnown: true, wasHere: true }
  const unknown = { isKnown: false, wasHere: false }
  test.for<[string, Compared, string]>([
    ['that is the same', { local: 'a', remote: 'a', ...unknown }, 'same'],
    ['that is only here', { local: 'a', ...unknown }, 'create'],
    ['that the server has as this history once had it', { local: 'b', remote: 'a', base: 'a', ...known }, 'update'],
    ['that was changed on the server alone', { local: 'a', remote: 'b', base: 'a', ...unknown }, 'theirs'],
    ['that was changed on both sides', { local: 'b', remote: 'c', base: 'a', ...unknown }, 'clash'],
    ['whose common state is not known', { local: 'b', remote: 'c', ...unknown }, 'clash'],
    ['that was removed here', { remote: 'a', base: 'a', ...known }, 'delete'],
    ['that was removed here and changed there', { remote: 'b', isKnown: false, wasHere: true }, 'clash'],
    ['that was never here', { remote: 'b', ...unknown }, 'new'],
    ['that was removed on the server', { local: 'a', base: 'a', isKnown: false, wasHere: true }, 'gone'],
    ['that was changed here and removed there', { local: 'b', base: 'a', isKnown: false, wasHere: true }, 'clash'],
  ])('%s', ([, compared, verdict]) => {
    expect(decide(compared)).toBe(verdict)
  })
})

describe('texts', () => {
  const base = 'a\nb\nc\nd\n'
  test('are merged by lines', () => {
    expect(mergeText(base, 'A\nb\nc\nd\n', 'a\nb\nc\nD\n')).toEqual({ text: 'A\nb\nc\nD\n', isConflict: false })
    expect(mergeText(base, base, null)).toEqual({ text: null, isConflict: false })
    expect(mergeText(undefined, 'a', 'b')).toEqual({ text: 'a', isConflict: true })
  })

  test('that clash stay, or take a side in the lines that clash', () => {
    const [ours, theirs] = ['X\nb\nc\nd\n', 'Y\nb\nc\nD\n']
    expect(mergeText(base, ours, theirs)).toEqual({ text: ours, isConflict: true })
    expect(mergeText(base, ours, theirs, 'ours').text).toBe('X\nb\nc\nD\n')
    expect(mergeText(base, ours, theirs, 'theirs').text).toBe(theirs)
  })

  test('of TypeScript keep their types in lines that nobody else has changed', () => {
    const typed = 'const a: number = 1\nconst b: string = "b"\n'
    const stripped = stripTypes(typed)
    const merged = mergeTyped({ typed, stripped }, stripped, stripped.replace('"b"', '"c"'))
    expect(merged.text).toBe('const a: number = 1\nconst b         = "c"\n')
  })
})

test('values are merged by key, lists whole; without a known base each difference is a conflict', () => {
  const base = { a: 1, list: [1], map: { x: 1, y: 1 } }
  const local = { a: 2, list: [1], map: { x: 1, y: 1, z: 1 } }
  const remote = { a: 1, list: [1, 2], map: { y: 2 } }
  const { changes, conflicts } = mergeValues(base, local, remote)
  expect(conflicts).toEqual([])
  expect(withChanges(local, changes)).toEqual({ a: 2, list: [1, 2], map: { y: 2, z: 1 } })
  expect(mergeValues(base, { ...base, a: 2 }, { ...base, a: 3 }).conflicts).toEqual([['a']])
  expect(mergeValues(unknownBase, { a: 1, b: 1 }, { a: 1, c: 1 }).conflicts).toEqual([['b'], ['c']])
  expect(mergeValues(unknownBase, local, remote, 'ours')).toEqual({ changes: [], conflicts: [] })
})

test('YAML keeps comments, order and the form of lines that no change is about', () => {
  const text =
    '# yaml-language-server: x\ntags: [one,two] # all\nwebhook: {enabled: true, username: u}\n\n# when\nschedules: {}\n'
  const edited = editYaml(
    text,
    [
      { path: ['description'], value: 'd' },
      { path: ['webhook', 'username'], value: undefined },
    ],
    ['name', 'description', 'tags', 'webhook', 'schedules'],
  )
  expect(edited).toBe(
    '# yaml-language-server: x\ndescription: d\ntags: [one,two] # all\nwebhook: { enabled: true }\n\n# when\nschedules: {}\n',
  )
  expect(editYaml('a: 1\nb:\n  c: 2\n', [{ path: ['b', 'c'], value: undefined }], [])).toBe('a: 1\n')
  // A member that has its default stands in no file.
  expect(editYaml('a: 1\n', [{ path: ['b', 'c'], value: undefined }], [])).toBe('a: 1\n')
  expect(editYaml('', [{ path: ['a', 'b'], value: 1 }], [])).toBe('a:\n  b: 1\n')
})

test('YAML may have members whose names are long numbers', () => {
  const text = '# ours\n1234567890123456789: a # first\n0.12345678901234567891: b\n'
  expect(readYaml(text)).toEqual({ '1234567890123456789': 'a', '0.12345678901234567891': 'b' })
  const changes = [
    { path: ['0.12345678901234567891'], value: 'c' },
    { path: ['d'], value: 1 },
  ]
  const edited = editYaml(text, changes, [])
  expect(edited).toContain('\n1234567890123456789: a # first\n')
  expect(readYaml(edited)).toEqual({ '1234567890123456789': 'a', '0.12345678901234567891': 'c', d: 1 })
})

test('requirements.txt and package.json keep what is not about packages', () => {
  const text = '# ours\nrequests>=2 # for calls\nrich\n\npkg @ https://git.example/pkg.git\n'
  const packages = readPackages('PYTHON', text)
  expect(packages).toEqual({ requests: '>=2', rich: '*', pkg: 'https://git.example/pkg.git' })
  const { rich: _, ...others } = packages
  expect(packagesText('PYTHON', { ...others, ms: '==1.0' }, text)).toBe(
    '# ours\nrequests>=2 # for calls\n\npkg @ https://git.example/pkg.git\nms==1.0\n',
  )
  expect(packagesText('PYTHON', { a: '', b: ' >=1.0 ', c: ' latest' }, undefined)).toBe('a\nb>=1.0\nc @ latest\n')
  expect(() => readPackages('PYTHON', '-r other.txt')).toThrow('line 1 is no requirement')
  expect(JSON.parse(packagesText('JAVASCRIPT', { ms: '2' }, '{"private":true}'))).toEqual({
    private: true,
    dependencies: { ms: '2' },
  })
})

test('schedules of the server get the names of the files: by what they are, their comment, their time', () => {
  const schedule = (name: string, cron: string) => ({ ...defaultSchedule(name), cron })
  const known = { a: schedule('a', '1'), b: schedule('b', '2'), c: { ...schedule('c', '3'), comment: null } }
  const server = [
    { ...schedule('x', '3'), comment: 'another' },
    { ...schedule('b', '20') },
    schedule('a', '1'),
    schedule('new', '9'),
    { ...schedule('', '8'), comment: null },
  ]
  expect(nameSchedules(server, known)).toEqual(['c', 'b', 'a', 'new', 'schedule'])
})

test.for([
  ['git@git.example:shop/app.git', 'https://git.example/shop/app'],
  ['https://user:secret@git.example/shop/app.git/', 'https://git.example/shop/app'],
  ['ssh://git@git.example/shop/app', 'https://git.example/shop/app'],
  ['ssh://git@git.example:2222/shop/app', 'https://git.example/shop/app'],
  ['/srv/app.git', undefined],
])('the repository at %s is %s', ([address, name]) => {
  expect(repositoryName(address!)).toBe(name)
})

test.for([
  ['processes/a/main.js', 'return 1', 'processes/a/process.yaml', 'tag: [x]', /tag is not known; known are name/],
  ['processes/a/main.js', 'return 1', 'processes/a/process.yaml', 'schedules: { x: {} }', /either cron or dateTime/],
  [
    'processes/a/main.js',
    '1',
    'processes/a/process.yaml',
    'schedules: { x: { dateTime: 2027-01-01T08:00 } }',
    /with an offset/,
  ],
  ['processes/a/main.js', 'return 1', 'processes/a/main.py', 'return 1', /one of main.js, main.ts and main.py/],
  ['processes/a/main.ts', 'enum A {}', 'modules/b.js', '', /enum is not supported/],
  ['processes/a/main.ts', 'return 1 as number', 'modules/b.js', '', /exported function main/],
  ['processes/A_b/main.js', '', 'modules/b.js', '', /lower-case letters/],
  ['variables.yaml', 'A: [1]', 'modules/b.js', '', /A must be string/],
  ['variables.yaml', 'A: {', 'modules/b.js', '', /line 1/],
])('a fault in %s %j, %s %j is told', ([first, text, second, other, message]) => {
  const { faults } = projectItems(
    new Map([
      [first as string, text as string],
      [second as string, other as string],
    ]),
  )
  expect(faults.map((fault) => `${fault.path}: ${fault.message}`).join('\n')).toMatch(message as RegExp)
})

describe('a rollback', () => {
  const version = (tag: string, day: number) => ({ id: `${tag}-${day}`, tag, createdAt: `2026-01-0${day}` })
  const owner = (key: string, versionId: string, ...versions: Owner['versions']): Owner => ({
    ...{ key, versionOwner: { id: key } as Owner['versionOwner'], content: { sourceCode: '' }, versions },
    alias: { id: key, versionId },
  })
  const moved = (each: Owner, ...previousVersionIds: string[]): Owner => ({
    ...each,
    alias: { ...each.alias!, updatedAt: '2026-01-09', ...(previousVersionIds.length > 0 && { previousVersionIds }) },
  })
  const owners = [
    owner('a', 'v3-3', version('v3', 3), version('v2', 2), version('v1', 1)),
    owner('b', 'v2-2', version('v2', 2), version('v1', 1)),
    owner('c', 'v3-3', version('v3', 3)),
  ]
  const shown = (moves: readonly { owner: Owner; to: { tag: string } | undefined }[] | undefined) =>
    moves?.map(({ owner: { key }, to }) => [key, to?.tag])

  test('without a tag undoes the last release alone', () => {
    const [a, b, c] = owners as [Owner, Owner, Owner]
    expect(shown(movesBack([moved(a, 'v2-2', 'v1-1'), b, c]).moves)).toEqual([
      ['a', 'v2'],
      ['c', undefined],
    ])
  })

  test('without a tag goes to a version that the alias led to, older than the present one', () => {
    const [a] = owners as [Owner]
    expect(shown(movesBack([moved(a, 'v1-1')]).moves)).toEqual([['a', 'v1']])
    const back = moved({ ...a, alias: { id: 'a', versionId: 'v2-2' } }, 'v3-3', 'v2-2', 'deleted', 'v1-1')
    expect(shown(movesBack([back]).moves)).toEqual([['a', 'v1']])
    expect(shown(movesBack([a]).moves)).toEqual([['a', undefined]])
  })

  test('without a tag takes the version before, and says so, where the server does not say what the alias led to', () => {
    const [a] = owners as [Owner]
    const { moves, guessed } = movesBack([moved(a)])
    expect([shown(moves), guessed.map(({ key }) => key)]).toEqual([[['a', 'v2']], ['a']])
  })

  test('to a tag gives each what it had then', () => {
    expect(shown(movesTo('v1', owners))).toEqual([
      ['a', 'v1'],
      ['b', 'v1'],
      ['c', undefined],
    ])
    expect(shown(movesTo('v2', owners))).toEqual([
      ['a', 'v2'],
      ['c', undefined],
    ])
    expect(movesTo('v9', owners)).toBeUndefined()
  })
})

test('parameters have types in both languages', () => {
  const schema = {
    properties: {
      name: { type: 'string', description: 'who */' },
      size: { enum: ['s', 1] },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['name'],
  }
  expect(typeScriptTypes({ 'send-report': schema, none: null })).toContain(
    'export type SendReportParameters = {\n  /** who * / */\n  "name": string\n  "size"?: "s" | 1\n  "tags"?: (string)[]\n}',
  )
  expect(pythonTypes({ 'send-report': schema, none: null })).toContain(
    '"name": str,\n    "size": NotRequired[Literal["s", 1]],\n    "tags": NotRequired[list[str]],',
  )
})
