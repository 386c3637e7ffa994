'use strict'

/*
 * `svc.storage` and `svc.datastore` of one run. Contents go to the runner and come from it in pieces, each asked for
 * when the one before is done with.
 */

const { Readable } = require('node:stream')

const PIECE_BYTES = 192 * 1024
const ofObjects = 'JSON.stringify makes text of objects'

/** A call of `svc.storage` or `svc.datastore` that failed; `code` says why, as a word. */
class StorageError extends Error {
  get name() {
    return 'StorageError'
  }
}

const valueOf = (answer) => answer.value
const jsonOf = (_, bytes) => JSON.parse(bytes.utf8Slice())
// The bytes of an answer are only there until the next one comes.
const pieceOf = (answer, bytes) => (answer.more === true ? Buffer.from(bytes) : null)
const nothingOf = () => undefined
const ignore = () => {}

/** Makes `svc.storage`; `send(message, read, failure)` sends a call to the runner. */
function createStorage(send) {
  const storage = {
    upload: (name, data, options) => upload(send, name, data, options, failureAt(storage.upload)),
    download: (name) => download(send, name, failureAt(storage.download)),
    list: (options) => list(send, options, failureAt(storage.list)),
    delete: async (name) => send({ method: 'storage.delete', name: named(name) }, nothingOf, failureAt(storage.delete)),
    createSignedUrl: async (name, options) =>
      send(
        { method: 'storage.createSignedUrl', name: named(name), expiresInSeconds: option('expiresInSeconds', options) },
        valueOf,
        failureAt(storage.createSignedUrl),
      ),
  }
  return storage
}

/** Makes `svc.datastore`. */
function createDatastore(send) {
  const key = (given) => named(given, 'The key')
  const datastore = {
    get: async (name) => send({ method: 'datastore.get', key: key(name) }, jsonOf, failureAt(datastore.get)),
    set: async (name, value) => {
      const text = JSON.stringify(value === undefined ? null : value)
      if (text === undefined) throw new TypeError('The value must be JSON')
      return send({ method: 'datastore.set', key: key(name), text }, nothingOf, failureAt(datastore.set))
    },
    del: async (name) => send({ method: 'datastore.delete', key: key(name) }, valueOf, failureAt(datastore.del)),
    keys: async (prefix) =>
      send({ method: 'datastore.keys', prefix: prefix ?? '' }, valueOf, failureAt(datastore.keys)),
  }
  datastore.delete = datastore.del
  return datastore
}

async function upload(send, name, data, options, failure) {
  const pieces = piecesOf(data)
  const begin = { method: 'storage.upload', name: named(name), contentType: option('contentType', options) ?? '' }
  // The error of a stream that is not read yet is told by reading it.
  if (typeof data?.[Symbol.asyncIterator] === 'function' && typeof data.on === 'function') data.on('error', ignore)
  const transfer = await send(begin, valueOf, failure)
  try {
    for await (const piece of pieces)
      await send({ method: 'storage.write', transfer, bytes: piece }, nothingOf, failure)
    return await send({ method: 'storage.finish', transfer }, valueOf, failure)
  } catch (error) {
    await send({ method: 'storage.close', transfer }, nothingOf, new StorageError(''))
    throw error
  }
}

/** A stream of the object's content, once it is known to be there. */
async function download(send, name, failure) {
  const transfer = await send({ method: 'storage.download', name: named(name) }, valueOf, failure)
  return new Readable({
    highWaterMark: 1,
    read() {
      send({ method: 'storage.read', transfer }, pieceOf, failure).then(
        (piece) => this.push(piece),
        (error) => this.destroy(error),
      )
    },
    destroy(error, done) {
      if (this.readableEnded) return done(error)
      const closed = () => done(error)
      send({ method: 'storage.close', transfer }, nothingOf, new StorageError('')).then(closed, closed)
    },
  })
}

async function list(send, options, failure) {
  const prefix = typeof options === 'string' ? options : (option('prefix', options) ?? '')
  const transfer = await send({ method: 'storage.list', prefix }, valueOf, failure)
  const read = (answer, bytes) => (answer.more === true ? JSON.parse(bytes.utf8Slice()) : null)
  const objects = []
  for (;;) {
    const some = await send({ method: 'storage.read', transfer }, read, failure)
    if (some === null) return objects
    for (const object of some) objects.push(object)
  }
}

/** Text, bytes, a Blob or a stream in pieces that fit into a call. */
async function* piecesOf(data) {
  if (data instanceof Blob) return yield* piecesOf(data.stream())
  if (typeof data === 'string' || ArrayBuffer.isView(data) || data instanceof ArrayBuffer)
    return yield* cut(bytesOf(data))
  if (typeof data?.[Symbol.asyncIterator] !== 'function' && typeof data?.[Symbol.iterator] !== 'function')
    throw new TypeError(`What is uploaded must be text, bytes or a stream; ${ofObjects}`)
  for await (const piece of data) yield* cut(bytesOf(piece))
}

function* cut(bytes) {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

function bytesOf(data) {
  if (typeof data === 'string') return Buffer.from(data)
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (data instanceof ArrayBuffer) return Buffer.from(data)
  throw new TypeError(`What is uploaded must be text or bytes; ${ofObjects}`)
}

/** Of options that may be absent. Anything else is refused: a link for 60 s would be one for an hour. */
function option(name, options) {
  if (options != null && (typeof options !== 'object' || Array.isArray(options)))
    throw new TypeError(`The options must be an object, such as { ${name} }`)
  const other = Object.keys(options ?? {}).find((each) => each !== name && options[each] !== undefined)
  if (other !== undefined) throw new TypeError(`There is no option ${other}: there is ${name}`)
  return options?.[name]
}

function named(name, what = 'The name') {
  if (typeof name !== 'string' || name === '') throw new TypeError(`${what} must be a string`)
  return name
}

function failureAt(caller) {
  const failure = new StorageError('')
  Error.captureStackTrace(failure, caller)
  return failure
}

module.exports = { createDatastore, createStorage }
