'use strict'

/*
 * Connections that Node's HTTP clients keep open for later requests. They are closed after a run: the next one finds
 * clients as new.
 */

const { getOwnPropertyDescriptor } = Object
const DISPATCHER = Symbol.for('undici.globalDispatcher.2')
const OLDER_DISPATCHER = Symbol.for('undici.globalDispatcher.1')

/** The hidden globals of `fetch`, made when it is first used. */
const names = [DISPATCHER, OLDER_DISPATCHER]

/** Closes what is kept; their descriptors are free two turns of the event loop later. False when there is nothing. */
function closeKept(usedBuiltins) {
  let mayHaveClosed = false
  for (const name of ['http', 'https']) {
    if (!usedBuiltins.has(name)) continue
    require(`node:${name}`).globalAgent.destroy()
    mayHaveClosed = true
  }
  const agent = getOwnPropertyDescriptor(globalThis, DISPATCHER)?.value
  if (agent === undefined) return mayHaveClosed
  // Another kind of dispatcher is one that process code has set.
  if (agent.constructor.name !== 'Agent') throw new Error('a dispatcher of its own')
  const next = new agent.constructor()
  const older = getOwnPropertyDescriptor(globalThis, OLDER_DISPATCHER)?.value
  globalThis[DISPATCHER] = next
  if (older !== undefined) globalThis[OLDER_DISPATCHER] = new older.constructor(next)
  agent.destroy().catch(() => {})
  return true
}

module.exports = { names, closeKept }
