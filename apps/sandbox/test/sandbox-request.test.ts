import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateSandboxRequestSchema } from '@automation/contract/sandbox/v1/sandbox'
import { Failure } from '@automation/errors'
import { Environment } from '@automation/service'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { afterAll, describe, expect, test } from 'vitest'
import { Catalogue, readCatalogue } from '../src/catalogue.ts'
import { readSandboxConfig } from '../src/service.ts'
import { checkedRequest } from '../src/sandbox-request.ts'

const base = { id: 'base', image: 'base', memoryMb: 1024, warm: 0 }
const catalogue = new Catalogue([base], false)
const checked = (request: MessageInitShape<typeof CreateSandboxRequestSchema>, from = catalogue) =>
  checkedRequest(create(CreateSandboxRequestSchema, { imageId: 'base', ...request }), from)

describe('what is refused', () => {
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`k${n}`, '']))
  test.for([
    ['/imageId', { imageId: '' }],
    ['/imageId', { imageId: 'unknown' }],
    ['/imageId', { imageId: 'busybox:1.36' }],
    ['/name', { name: 'x'.repeat(256) }],
    ['/name', { name: 'a\0' }],
    ['/metadata', { metadata: many }],
    ['/metadata', { metadata: { key: 'x'.repeat(65_536) } }],
    ['/timeout', { timeoutMs: 999n }],
    ['/timeout', { timeoutMs: 86_400_001n }],
    ['/timeout', { timeoutMs: -1n }],
    ['/publicHttpPorts/0', { publicHttpPorts: [0] }],
    ['/publicHttpPorts/1', { publicHttpPorts: [80, 65_536] }],
    ['/publicHttpPorts/1', { publicHttpPorts: [80, 80] }],
    ['/publicHttpPorts', { publicHttpPorts: Array.from({ length: 21 }, (_, n) => n + 1) }],
  ] as const)('%s', ([path, request]) => {
    expect(() => checked(request as never)).toThrow(
      expect.objectContaining({ fields: [{ path, message: expect.any(String) }] }),
    )
  })
})

test('all that is wrong is told at once', () => {
  const wrong = { imageId: 'unknown', name: 'x'.repeat(256), timeoutMs: 1n, publicHttpPorts: [0, 80, 80, 65_536] }
  const paths = ['/imageId', '/name', '/timeout', '/publicHttpPorts/0', '/publicHttpPorts/2', '/publicHttpPorts/3']
  const fields = paths.map((path) => ({ path, message: expect.any(String) }))
  expect(() => checked(wrong)).toThrow(expect.objectContaining({ code: 'invalid_input', fields }))
  expect(() => checked({ imageId: 'unknown' })).toThrow(expect.objectContaining({ code: 'image_not_found' }))
})

test('an image that is not there is told with those that are', () => {
  const offers = new Catalogue([base, { ...base, id: 'python' }], false)
  expect(() => checked({ imageId: 'pyton' }, offers)).toThrow('names no image; there are base, python')
})

test('without more than an image a sandbox has five minutes and no port', () => {
  expect(checked({})).toEqual({
    image: base,
    name: undefined,
    metadata: {},
    timeoutMs: 300_000,
    publicHttpPorts: [],
    credential: undefined,
  })
})

test('where any image is allowed, names of images are', () => {
  const open = new Catalogue([base], true)
  expect(checked({ imageId: 'registry.example:5000/team/image:1.2' }, open).image).toMatchObject({ memoryMb: 1024 })
  expect(() => checked({ imageId: 'Not An Image' }, open)).toThrow(Failure)
})

describe('credentials of public ports', () => {
  const bcrypt = `${'./AZaz09'.repeat(7).slice(0, 53)}`
  const md5 = 'abcdefgh./ABCDEFGH01'.padEnd(22, 'x')
  const credential = (text: string) => checked({ publicHttpPortsBasicAuth: text }).credential

  test.for([
    `$2a$10$${bcrypt}`,
    `$2b$14$${bcrypt}`,
    `$2x$04$${bcrypt}`,
    `$2y$12$${bcrypt}`,
    `$apr1$saltsalt$${md5}`,
    `$1$s$${md5}`,
    '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=',
  ])('the hash %s is kept as it is', (hash) => {
    expect(credential(`me:${hash}`)).toEqual({ username: 'me', passwordHash: hash })
  })

  test.for([
    `me:$2b$15$${bcrypt}`,
    `me:$2b$03$${bcrypt}`,
    `me:$2b$1$${bcrypt}`,
    `me:$2b$10$${bcrypt}x`,
    `me:$2y$10$${bcrypt.slice(1)}`,
    'me:$apr1$saltsaltsalt$xx',
    `me:$1$salt$${md5}x`,
    'me:{SHA}short',
    'me:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9h=',
    'me:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g',
    'no colon',
    ':password',
    'me:',
    `me:${'x'.repeat(73)}`,
    'me:a\nb',
    `${'u'.repeat(256)}:x`,
  ])('%j is refused', (text) => {
    expect(() => credential(text)).toThrow(
      expect.objectContaining({ fields: [{ path: '/publicHttpPortsBasicAuth', message: expect.any(String) }] }),
    )
  })

  test('any other text is a password, colons and all', () => {
    expect(credential('me:a:b $2 {sha}')).toEqual({ username: 'me', password: 'a:b $2 {sha}' })
    expect(credential('')).toBeUndefined()
  })
})

describe('the catalogue of images', () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'images.json')
  const read = (content: string) => {
    writeFileSync(path, content)
    const env = new Environment({ SANDBOX_IMAGES: path })
    const found = readCatalogue(env)
    let faults = ''
    try {
      env.check()
    } catch (error) {
      faults = (error as Error).message
    }
    return { found, faults }
  }

  test('has the image base where there is no file', () => {
    expect(readCatalogue(new Environment({})).find('base')).toEqual({ ...base, warm: 1 })
  })

  test('is read with amounts of memory and processors', () => {
    const images = [
      { id: 'python', image: 'registry.example/python:3.14', command: ['daemon'], cpu: '500m', memory: '2Gi', warm: 3 },
      { id: 'small', image: 'busybox', cpu: 2, memory: 67_108_864, runtimeClassName: 'gvisor' },
    ]
    const { found, faults } = read(JSON.stringify({ images, allowAnyImage: true, homeMb: 64, daemonImage: 'daemon:1' }))
    expect(faults).toBe('')
    expect(found.find('python')).toMatchObject({ cpus: 0.5, memoryMb: 2048, warm: 3, command: ['daemon'] })
    expect(found.defaults).toEqual({ homeMb: 64, startTimeoutMs: 30_000, daemonImage: 'daemon:1' })
    expect(found.find('small')).toMatchObject({ cpus: 2, memoryMb: 64, runtimeClassName: 'gvisor', warm: 0 })
  })

  test.for([
    ['{', /SANDBOX_IMAGES names .* is no JSON/],
    ['[]', /the whole must be an object/],
    ['{}', /images must be a list/],
    ['{"images":[5]}', /images\[0\] must be an object/],
    ['{"images":[{"id":"a b","image":"x"}]}', /images\[0\]\.id must/],
    ['{"images":[{"id":"a","image":"X Y"}]}', /images\[0\]\.image must/],
    ['{"images":[{"id":"a","image":"x","memory":"1Ki"}]}', /images\[0\]\.memory must/],
    ['{"images":[{"id":"a","image":"x","cpu":"none","warm":-1}]}', /cpu must[^]*warm must/],
    ['{"images":[{"id":"a","image":"x","command":[]}]}', /images\[0\]\.command must/],
    ['{"images":[{"id":"a","image":"x","size":1}]}', /images\[0\]\.size is no member/],
    ['{"images":[{"id":"a","image":"x"},{"id":"a","image":"y"}]}', /the id "a" twice/],
    ['{"images":[],"allowAnyImage":"yes"}', /allowAnyImage must/],
    ['{"images":[],"homeMb":0,"startTimeoutMs":"1"}', /homeMb must be [^]*startTimeoutMs must be/],
    ['{"images":[],"daemonImage":"X Y"}', /daemonImage must/],
  ] as const)('%s is refused at start', ([content, words]) => {
    expect(read(content).faults).toMatch(words)
  })

  test('a driver that is not there, and a catalogue that can not be read, are refused at start', () => {
    const env = new Environment({ SANDBOX_DRIVER: 'docker', SANDBOX_IMAGES: '/no/such/file' })
    readSandboxConfig(env)
    expect(() => env.check()).toThrow(
      /SANDBOX_DRIVER must be [^]*SANDBOX_IMAGES names \/no\/such\/file, which can't be read: ENOENT/,
    )
  })
})
