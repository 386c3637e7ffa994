'use strict'

const { inspect, types } = require('node:util')
const { EXPORTS } = require('./es-modules.js').names

const MAX_MESSAGE = 16 * 1024
const MAX_STACK = 64 * 1024
const MAX_CAUSES = 5
const MAX_PROPERTIES = 20
const MAX_PROPERTY = 500
const NOT_THE_USERS = [__dirname, '(node:', ' node:']
/** What of an error is shown anyway. */
const SHOWN = new Set(['name', 'message', 'stack', 'cause'])
const PLAIN = new Set(['string', 'number', 'boolean', 'bigint'])
const OUT_OF_MEMORY =
  /^(?:Array buffer allocation failed|Failed to allocate memory|WebAssembly\.Memory\(\): could not allocate memory)/

/** What is told of anything that a run threw: `{ name, message, stack }`, the stack with the user's own frames only. */
function describe(thrown) {
  try {
    return types.isNativeError(thrown) || thrown instanceof Error ? describeError(thrown) : describeValue(thrown)
  } catch {
    return { name: 'Error', message: "What was thrown can't be shown", stack: "Error: What was thrown can't be shown" }
  }
}

function describeError(error) {
  const name = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'OutOfMemoryError' : String(error.name || 'Error')
  const message = explained(cut(String(error.message), MAX_MESSAGE))
  const head = message === '' ? name : `${name}: ${message}`
  return { name, message, stack: cut(head + framesOf(error) + ownOf(error) + causesOf(error), MAX_STACK) }
}

function describeValue(value) {
  const message = cut(typeof value === 'string' ? value : inspect(value, { depth: 3 }), MAX_MESSAGE)
  return { name: 'Error', message, stack: `Error: ${message}` }
}

function explained(message) {
  return OUT_OF_MEMORY.test(message) ? `${message} (out of memory)` : message
}

/** The lines `    at …` of an error's stack, with a newline before each. */
function framesOf({ stack, message }) {
  const text = String(stack)
  const [name] = text.split(String(message), 1)
  // Where the engine can't read a file, such as one of a package, it says so before the error's name.
  const [, unread] = /^(\S.*:\d+)\n.*\n\s*\^+\n+SyntaxError: /.exec(text) ?? []
  // A message may have such lines, too.
  const trace = name.includes('\n') ? text : text.slice(name.length + String(message).length)
  const frames = trace.split('\n').filter(isUsers)
  if (unread !== undefined) frames.unshift(`    at ${unread}`)
  return frames.map((frame) => `\n${frame.replace(`${EXPORTS}.`, '')}`).join('')
}

/** Whether it is a frame of the user's own code; what stands before its first column is not. */
const isUsers = (line) =>
  /^\s+at /.test(line) && !NOT_THE_USERS.some((mark) => line.includes(mark)) && !/:(?:0|-\d+)\)?$/.test(line)

/**
 * Its plain properties, such as a code, a line each; objects may hold whole requests with what they are signed by. None of
 * one that does not let them be seen, such as a proxy.
 */
function ownOf(error) {
  try {
    return plainOf(Object.getOwnPropertyDescriptors(error))
  } catch {
    return ''
  }
}

function plainOf(descriptors) {
  return Object.entries(descriptors)
    .filter(([name, { enumerable, value }]) => enumerable && !SHOWN.has(name) && PLAIN.has(typeof value))
    .slice(0, MAX_PROPERTIES)
    .map(
      ([name, { value }]) =>
        `\n  ${cut(name.replace(/\s+/g, ' '), MAX_PROPERTY)}: ${inspect(value, { maxStringLength: MAX_PROPERTY, breakLength: Infinity })}`,
    )
    .join('')
}

function causesOf(error) {
  let text = ''
  let cause = error.cause
  for (let depth = 0; cause !== undefined && depth < MAX_CAUSES; depth += 1) {
    const isError = types.isNativeError(cause)
    text += isError
      ? `\n  [cause]: ${cause.name}: ${cause.message}${framesOf(cause)}${ownOf(cause)}`
      : `\n  [cause]: ${inspect(cause)}`
    text += isError ? among(cause) : ''
    cause = isError ? cause.cause : undefined
  }
  return text + among(error)
}

/** Those that an error holds, such as one for each address that a name has. */
function among({ errors }) {
  if (!Array.isArray(errors)) return ''
  return errors
    .slice(0, MAX_CAUSES)
    .map((each) => `\n  [error]: ${describe(each).stack}`)
    .join('')
}

const cut = (text, length) => (text.length > length ? `${text.slice(0, length)}… (cut)` : text)

module.exports = { describe }
