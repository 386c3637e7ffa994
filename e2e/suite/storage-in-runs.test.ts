import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { DatastoreEntry, Page } from '../client/records.ts'
import { awaitEnd, execute, logsOf, makeProcess, makeWebhook, messagesOf, runCode, runProcess } from './runs.ts'
import { client, shared, unique } from './shared-system.ts'

const python = async (sourceCode: string) =>
  runProcess(await makeProcess({ sourceCode, programmingLanguage: 'PYTHON' }))
const valueIn = (run: typeof runCode) => async (sourceCode: string) => {
  const { answer } = await run(sourceCode)
  expect(answer.status, answer.text.slice(0, 1000)).toBe(203)
  return answer.body as never
}
const js = valueIn(runCode)
const py = valueIn(python)
const content = async (name: string) => (await client.get(`/storage/objects/${name}`)).text

describe('JavaScript', () => {
  test('a run uploads text, bytes and streams, lists, downloads and deletes', async () => {
    const root = unique('js')
    const seen = await js(`
      const { Readable } = require('stream')
      const { storage } = svc
      const made = await storage.upload('${root}/ü.txt', 'hello')
      const bytes = Uint8Array.from({ length: 256 }, (_, n) => n)
      await storage.upload('${root}/b.bin', bytes, { contentType: 'image/x-own' })
      await storage.upload('${root}/s', Readable.from(['a', 'b', Buffer.from('c')]))
      await storage.upload('${root}/w', new Blob(['web']).stream())
      await storage.upload('${root}/gone', '')
      await storage.delete('${root}/gone')
      const names = (await storage.list({ prefix: '${root}/' })).map(({ name }) => name.slice(${root.length + 1}))
      const contentOf = async (name) => Buffer.concat(await (await storage.download('${root}/' + name)).toArray())
      const text = (await contentOf('ü.txt')).toString()
      const areSame = (await contentOf('b.bin')).equals(bytes)
      return { made, listed: await storage.list({ prefix: '${root}/' }), names, text, areSame }`)
    expect(seen).toMatchObject({
      listed: (await client.get<unknown[]>('/storage/objects', { prefix: `${root}/` })).body,
      made: { name: `${root}/ü.txt`, link: `${client.rest}/storage/objects/${root}/%C3%BC.txt` },
      names: ['b.bin', 's', 'w', 'ü.txt'],
      text: 'hello',
      areSame: true,
    })
    expect(await content(`${root}/s`)).toBe('abc')
    expect(await content(`${root}/w`)).toBe('web')
    const types = (await client.get<{ contentType: string }[]>('/storage/objects', { prefix: `${root}/b` })).body
    expect(types[0]?.contentType).toBe('image/x-own')
  })

  test(
    'a file larger than the memory of a run passes through it in both directions',
    { timeout: 180_000 },
    async () => {
      const name = unique('large')
      const pieces = Math.ceil(1.4 * shared.runMemoryMb)
      const sourceCode = `
      const { createHash } = require('crypto')
      const piece = Buffer.alloc(1024 * 1024, 7)
      const made = await svc.storage.upload('${name}', (function* () { for (let n = 0; n < ${pieces}; n++) yield piece })())
      const hash = createHash('md5')
      for await (const chunk of await svc.storage.download('${name}')) hash.update(chunk)
      await svc.storage.delete('${name}')
      console.log(hash.digest('base64') === made.md5Hash, made.size)`
      // Longer than a caller may wait on a small machine.
      const id = await execute(await makeProcess({ sourceCode }))
      expect((await awaitEnd(id, 170_000)).status).toBe('FINISHED')
      expect(messagesOf(await logsOf(id))).toEqual([`true ${pieces * 2 ** 20}`])
    },
  )

  test('a link made by a run gives its file', async () => {
    const name = unique('linked')
    const signed = await js(`
      await svc.storage.upload('${name}', 'for you')
      return svc.storage.createSignedUrl('${name}', null)`)
    const { url, path } = signed as { url: string; path: string }
    expect([path, await (await fetch(url)).text()]).toEqual([name, 'for you'])
  })

  test('what fails says why, at the line of the user', async () => {
    const { execution } = await runCode(`const x = 1\nawait svc.storage.download('${unique()}')`)
    expect(execution.status).toBe('ERROR')
    expect(execution.timeline.explanation ?? JSON.stringify(execution.timeline)).toContain('Object not found')
    const codes = await js(`
      const codeOf = (call) => call.then(() => 'none', (error) => error.code ?? error.name)
      return Promise.all([
        codeOf(svc.storage.upload('../x', 'x')), codeOf(svc.storage.upload('a', 5)), codeOf(svc.storage.delete('${unique()}')),
        codeOf(svc.storage.createSignedUrl('${unique()}', { expiresInSeconds: 0 })), codeOf(svc.datastore.set('k', () => 1)),
        codeOf(svc.datastore.set('k', 'x'.repeat(65536)))])`)
    expect(codes).toEqual([
      'invalid_input',
      'TypeError',
      'object_not_found',
      'invalid_input',
      'TypeError',
      'value_too_large',
    ])
  })

  test('what is refused says where; options that are none are refused, not left out', async () => {
    const name = unique('refused')
    const seen = await js(`
      const messageOf = (call) => call.then(() => 'none', (error) => error.name + ': ' + error.message)
      const { storage } = svc
      await storage.upload('${name}', 'x')
      const listed = (await storage.list('${name}')).length
      const refused = [
        storage.upload('a//b', 'x'), storage.createSignedUrl('${name}', { expiresInSeconds: 0 }),
        storage.createSignedUrl('${name}', 60), storage.upload('${name}', 'x', 'text/html'), storage.list(5),
        storage.createSignedUrl('${name}', { expiresIn: 60 }), storage.upload('${name}', 'x', { type: 'text/html' })]
      return [listed, ...await Promise.all(refused.map(messageOf))]`)
    expect(seen).toEqual([
      1,
      'StorageError: /filename must have no leading, doubled or trailing slash',
      'StorageError: /expiresInSeconds must be from 1 to 604800',
      'TypeError: The options must be an object, such as { expiresInSeconds }',
      'TypeError: The options must be an object, such as { contentType }',
      'TypeError: The options must be an object, such as { prefix }',
      'TypeError: There is no option expiresIn: there is expiresInSeconds',
      'TypeError: There is no option type: there is contentType',
    ])
    const inPython = await py(`
def message_of(**options):
    try: svc.storage.create_signed_url('${name}', **options)
    except TypeError as error: return str(error)
return [message_of(expires_in=60), message_of(options={"expiresIn": 60})]`)
    expect(inPython).toEqual([
      'There is no option expires_in: there is expires_in_seconds',
      'There is no option expiresIn: there is expires_in_seconds',
    ])
  })

  test('an object is no content, and is told how it becomes one', async () => {
    const messages = await js(`
      const messageOf = (call) => call.then(() => 'none', (error) => error.name + ': ' + error.message)
      return Promise.all([{ a: 1 }, [{ a: 1 }]].map((data) => messageOf(svc.storage.upload('${unique()}', data))))`)
    expect(messages).toEqual(Array(2).fill(expect.stringMatching(/^TypeError: .*JSON\.stringify/)))
  })

  test('an upload whose source fails leaves nothing', async () => {
    const name = unique('broken')
    const seen = await js(`
      const source = (async function* () { yield 'a'; throw new Error('no more') })()
      const error = await svc.storage.upload('${name}', source).catch(({ message }) => message)
      return [error, (await svc.storage.list({ prefix: '${name}' })).length]`)
    expect(seen).toEqual(['no more', 0])
  })

  test('an upload whose source has failed before it is read is caught like any other', async () => {
    const seen = await js(`
      const source = new (require('node:stream').PassThrough)().destroy(new Error('gone'))
      return svc.storage.upload('${unique()}', source).catch(({ message }) => message)`)
    expect(seen).toBe('gone')
  })

  test('copies of what is not there leave no upload open', async () => {
    const seen = await js(`
      const codes = new Set()
      const missing = async function* () { yield* await svc.storage.download('no such object') }
      for (let n = 0; n < 60; n++) await svc.storage.upload('copy', missing()).catch(({ code }) => codes.add(code))
      return [...codes]`)
    expect(seen).toEqual(['object_not_found'])
  })

  test('values are shared between the runs of a team', async () => {
    const key = unique('key')
    expect(
      await js(`
      const { datastore } = svc
      const before = await datastore.get('${key}')
      await datastore.set('${key}', { n: [1, 'ü', null] })
      await datastore.set('${key}-2', 0)
      return [before, await datastore.keys('${key}'), await datastore.del('${key}-2')]`),
    ).toEqual([null, [key, `${key}-2`], true])
    expect(await js(`return svc.datastore.get('${key}')`)).toEqual({ n: [1, 'ü', null] })
    expect(await py(`return svc.datastore.get('${key}')`)).toEqual({ n: [1, 'ü', null] })
    const { body } = await client.get<Page<DatastoreEntry>>('/datastore', { prefix: key })
    expect(body).toMatchObject({ total: 1, data: [{ key, size: 19, value: { n: [1, 'ü', null] } }] })
  })

  test('values that are not small are left out of lists, which have pages', async () => {
    const key = unique('key')
    await js(`for (const name of ['a', 'b', 'c']) await svc.datastore.set('${key}-' + name, 'x'.repeat(1023))`)
    const { body } = await client.get<Page<DatastoreEntry>>('/datastore', { prefix: key, limit: '2' })
    expect(body).toMatchObject({ total: 3, hasNextPage: true, data: [{ key: `${key}-a` }, { key: `${key}-b` }] })
    expect(body.data[0]).toMatchObject({ size: 1025 })
    expect(body.data[0]).not.toHaveProperty('value')
  })
})

describe('Python', () => {
  test('a run uploads text, bytes and files, lists, downloads and deletes', async () => {
    const root = unique('py')
    const seen = await py(`
import io, hashlib
made = svc.storage.upload("${root}/ü.txt", "hello")
svc.storage.upload("${root}/b.bin", bytes(range(256)), content_type="image/x-own")
svc.storage.upload("${root}/f", io.BytesIO(b"file" * 100000))
svc.storage.upload("${root}/t", io.StringIO("text"))
svc.storage.upload("${root}/g", (piece for piece in ("a", b"b")))
svc.storage.upload("${root}/gone", b"")
svc.storage.delete("${root}/gone")
names = [each.name for each in svc.storage.list(prefix="${root}/")]
data = svc.storage.download("${root}/f")
signed = svc.storage.create_signed_url("${root}/t", expires_in_seconds=60)
return {"made": made, "listed": svc.storage.list({"prefix": "${root}/"}), "names": names, "ok": data == b"file" * 100000, "type": made.content_type, "url": signed.url,
        "expires": signed["expiresAt"] == signed.expires_at, "same": svc.storage.download("${root}/b.bin") == bytes(range(256)), "text": svc.storage.download("${root}/ü.txt").decode()}`)
    const { url, ...rest } = seen as { url: string }
    expect(rest).toMatchObject({
      listed: (await client.get<unknown[]>('/storage/objects', { prefix: `${root}/` })).body,
      made: { name: `${root}/ü.txt`, size: 5, md5Hash: createHash('md5').update('hello').digest('base64') },
      names: ['b.bin', 'f', 'g', 't', 'ü.txt'].map((name) => `${root}/${name}`),
      ok: true,
      type: 'text/plain',
      expires: true,
      same: true,
      text: 'hello',
    })
    expect(await (await fetch(url)).text()).toBe('text')
    expect(await content(`${root}/g`)).toBe('ab')
  })

  test('copies of what is not there leave no upload open', async () => {
    const seen = await py(`
codes = set()
def missing():
    yield svc.storage.download("no such object")
for n in range(60):
    try:
        svc.storage.upload("copy", missing())
    except Exception as error:
        codes.add(getattr(error, "code", str(error)))
return list(codes)`)
    expect(seen).toEqual(['object_not_found'])
  })

  test('values are kept and deleted, under every name of the call', async () => {
    const key = unique('key')
    expect(
      await py(`
store = svc.datastore
before = store.get("${key}")
store.set("${key}", {"a": [1, None]})
value = store.get("${key}").a
return [before, value, store.keys("${key}"), store.delete("${key}"), getattr(store, "del")("${key}")]`),
    ).toEqual([null, [1, null], [key], true, false])
  })

  test('what fails says why', async () => {
    const { execution } = await python(`svc.storage.download("${unique()}")`)
    expect(JSON.stringify(execution.timeline)).toContain('StorageError: Object not found')
    expect(
      await py(`
try:
    svc.storage.upload("a//b", "x")
except svc.StorageError as error:
    return [error.code, str(error)]`),
    ).toEqual(['invalid_input', '/filename must have no leading, doubled or trailing slash'])
    expect(
      await py(`
def message_of(data):
    try:
        svc.storage.upload("${unique()}", data)
    except TypeError as error:
        return str(error)
return [message_of(data) for data in ({"a": 1}, [{"a": 1}])]`),
    ).toEqual(Array(2).fill(expect.stringContaining('json.dumps')))
  })
})

describe('files in webhook forms', () => {
  const form = () => {
    const made = new FormData()
    made.append('title', 'two files')
    made.append('doc', new Blob(['hello'], { type: 'text/plain' }), 'grüße/../a.txt')
    made.append('doc', new Blob([Buffer.alloc(300_000, 1)], { type: 'image/x-own' }), 'b.bin')
    return made
  }

  test('a process is told of them and reads them; they are in no list', async () => {
    const process = await makeWebhook(`
      const { title, doc } = svc.context.parameters
      const texts = []
      for (const { storagePath } of doc) texts.push(Buffer.concat(await (await svc.storage.download(storagePath)).toArray()).length)
      return { title, doc, texts, isBase64: svc.context.request.isBase64 }`)
    const answer = await client.webhook<{ doc: { storagePath: string }[] }>('POST', process.slug, { body: form() })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body).toMatchObject({
      title: 'two files',
      doc: [
        { filename: expect.any(String), contentType: 'text/plain', size: 5, storagePath: expect.any(String) },
        { filename: 'b.bin', contentType: 'image/x-own', size: 300_000, storagePath: expect.any(String) },
      ],
      texts: [5, 300_000],
      isBase64: true,
    })
    expect((await client.get<unknown[]>('/storage/objects', { prefix: '.webhooks/' })).body).toEqual([])
    const path = answer.body.doc[0]?.storagePath ?? ''
    expect(await content(path.split('/').map(encodeURIComponent).join('/'))).toBe('hello')
  })

  test('nothing is kept for who may not start the process', async () => {
    const process = await makeWebhook('return svc.context.parameters', {
      webhook: { enabled: true, username: 'u', password: 'p' },
    })
    expect((await client.webhook('POST', process.slug, { body: form() })).status).toBe(401)
    expect((await client.webhook('POST', unique('unknown'), { body: form() })).status).toBe(404)
  })
})
