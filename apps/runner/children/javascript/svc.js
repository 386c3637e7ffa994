'use strict'

/*
 * The global `svc` of one run. It holds values that came with the run, and calls that the runner makes for it.
 */

const { createDatastore, createStorage } = require('./storage.js')

const MAX_OPEN_CALLS = 1000
const MEMBERS = ['parameters', 'tag', 'comment', 'settings']
const SETTINGS = ['timeout', 'agentPoolSlug', 'callbackUrl', 'freshProcess']

/** A call of `svc.processes` that failed, or whose run did. `code` and `executionId` say more where there is more. */
class ProcessError extends Error {
  get name() {
    return 'ProcessError'
  }
}

/**
 * Makes `svc` from the run's header, its parameters and request as JSON text, and the surroundings of its version.
 * `ask(call, settle)` sends a call to the runner and gives `settle` its answer.
 */
function createSvc({ header, parameters, request, surroundings, ask }) {
  const { team, timeZone, process, variables } = surroundings
  const svc = {
    context: { parameters: JSON.parse(parameters) },
    env: { ...variables },
    execution: { id: header.id, comment: header.comment ?? null, process: { ...process }, timezone: timeZone },
    team: { slug: team, timezone: timeZone },
    processes: {
      run: (identifier, input) => call('run', identifier, input, ask, svc.processes.run),
      runSync: (identifier, input) => call('runSync', identifier, input, ask, svc.processes.runSync),
    },
  }
  const asked = asking(ask)
  svc.storage = createStorage(asked)
  svc.datastore = createDatastore(asked)
  if (request !== '') svc.context.request = JSON.parse(request)
  if (header.scheduleId) svc.execution.schedule = { id: header.scheduleId, comment: header.scheduleComment ?? null }
  return svc
}

let open = 0

async function call(method, identifier, input, ask, caller) {
  const message = { method, ...checked(identifier, input ?? {}) }
  const read = (answer, bytes) => (bytes.length === 0 ? answer.value : JSON.parse(bytes.utf8Slice()))
  return asking(ask)(message, read, failureAt(new ProcessError(''), caller))
}

/**
 * Gives what sends a message to the service: it resolves with what `read` makes of the answer at once, or rejects with
 * `failure`, which was made where the stack still showed the user's line.
 */
function asking(ask) {
  return (message, read, failure) => {
    if (open >= MAX_OPEN_CALLS) throw new RangeError(`More than ${MAX_OPEN_CALLS} calls are open at once`)
    return new Promise((resolve, reject) => {
      ask(message, (answer, bytes) => {
        open -= 1
        if (answer.error === undefined) return resolve(read(answer, bytes))
        const { message: text, ...rest } = answer.error
        failure.message = text
        failure.stack = failure.stack.replace(/^(\w+Error)(: )?/, (_, name) => `${name}: ${text}`)
        reject(Object.assign(failure, rest))
      })
      open += 1
    })
  }
}

function failureAt(failure, caller) {
  Error.captureStackTrace(failure, caller)
  return failure
}

function checked(identifier, input) {
  if (typeof identifier !== 'string' || identifier === '')
    throw new TypeError('The process must be named by its id or slug')
  if (typeof input !== 'object')
    throw new TypeError(`What the process gets must be an object with ${MEMBERS.join(', ')}`)
  refuseOthers(input, MEMBERS, '')
  const { parameters, tag, comment, settings } = input
  for (const [name, value] of Object.entries({ tag, comment })) {
    if (value != null && typeof value !== 'string') throw new TypeError(`${name} must be a string`)
  }
  refuseOthers(settings ?? {}, SETTINGS, 'settings.')
  const { agentPoolSlug, callbackUrl, timeout, freshProcess } = settings ?? {}
  if (timeout != null && !(Number.isInteger(timeout) && timeout > 0 && timeout < 2 ** 32))
    throw new TypeError('settings.timeout must be a whole number of milliseconds')
  return {
    identifier,
    text: textOf(parameters ?? {}),
    tag: tag ?? undefined,
    comment: comment ?? undefined,
    settings: {
      agentPool: optionalText(agentPoolSlug),
      callbackUrl: optionalText(callbackUrl),
      timeoutMs: timeout ?? undefined,
      freshProcess: freshProcess === true,
    },
  }
}

/** A misspelt member would be left out, and another version run than was meant. */
function refuseOthers(given, members, where) {
  const other = Object.keys(given).find((name) => given[name] !== undefined && !members.includes(name))
  if (other !== undefined) throw new TypeError(`There is no ${where}${other}: there are ${members.join(', ')}`)
}

const optionalText = (value) => (value == null ? undefined : String(value))

/** Texts that stand for no parameters, as over REST. */
const NONE = ['', 'null', '[]']

function textOf(parameters) {
  if (typeof parameters === 'string' && NONE.includes(parameters.trim())) return '{}'
  const text = typeof parameters === 'string' ? parameters : JSON.stringify(parameters)
  if (!text?.trimStart().startsWith('{')) throw new TypeError('parameters must be an object')
  return text
}

module.exports = { createSvc }
