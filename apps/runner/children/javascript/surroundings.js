'use strict'

/*
 * What a run finds around it: environment variables, a private directory as its working and home directory, listeners,
 * umask. All is put back after the run.
 */

const { mkdirSync, readdirSync, renameSync, rmSync } = require('node:fs')
const { chdir, cwd, umask } = process

const root = cwd()
const ownUmask = umask()
const ownTitle = process.title
const ownEnvironment = Object.entries(process.env)
const DIRECTORY_VARIABLES = ['HOME', 'TMPDIR', 'TMP_DATA_DIR']
const REMOVE = { recursive: true, force: true, maxRetries: 3 }

const SHARED_MEMORY = '/dev/shm'
const sharedBefore = new Set(entriesOf(SHARED_MEMORY))

const expected = new Map(ownEnvironment)
const listeners = new Map()
let number = 0
let directory
let directoryVariables = DIRECTORY_VARIABLES
let hasOwnTrace = false

/** Makes the first private directory, and remembers which listeners are the child's own. */
function prepare() {
  nextDirectory()
  for (const name of process.eventNames()) listeners.set(name, process.listeners(name))
}

/** Sets the team variables that runs see in `process.env`. Only TMP_DATA_DIR is not theirs to set. */
function setVariables(variables) {
  expected.clear()
  for (const [name, value] of ownEnvironment) expected.set(name, value)
  for (const name of DIRECTORY_VARIABLES) expected.set(name, directory)
  for (const name of Object.keys(variables)) if (name !== 'TMP_DATA_DIR') expected.set(name, variables[name])
  hasOwnTrace = Object.hasOwn(variables, 'TRACEPARENT')
  directoryVariables = DIRECTORY_VARIABLES.filter((name) => expected.get(name) === directory)
  restoreEnvironment()
}

/** Sets the trace context that the next run sees, unless the team has a variable of that name. */
function setTraceparent(traceparent) {
  if (hasOwnTrace || expected.get('TRACEPARENT') === traceparent) return
  if (traceparent === undefined) {
    expected.delete('TRACEPARENT')
    delete process.env.TRACEPARENT
  } else {
    expected.set('TRACEPARENT', traceparent)
    process.env.TRACEPARENT = traceparent
  }
}

function restoreEnvironment() {
  for (const name of Object.keys(process.env)) if (!expected.has(name)) delete process.env[name]
  for (const [name, value] of expected) if (process.env[name] !== value) process.env[name] = value
}

/** Puts back what a run changed; gives what can't be, in words, or undefined. */
function tidy() {
  umask(ownUmask)
  process.exitCode = undefined
  if (process.title !== ownTitle) process.title = ownTitle
  if (process.hasUncaughtExceptionCaptureCallback()) process.setUncaughtExceptionCaptureCallback(null)
  restoreListeners()
  try {
    emptyDirectory()
  } catch (error) {
    return `files that can't be removed (${error.code})`
  }
  restoreEnvironment()
  return entriesOf(SHARED_MEMORY)?.some((name) => !sharedBefore.has(name)) ? 'a file in shared memory' : undefined
}

function restoreListeners() {
  for (const name of process.eventNames()) if (!listeners.has(name)) process.removeAllListeners(name)
  for (const [name, before] of listeners) {
    const now = process.listeners(name)
    if (now.length === before.length && now.every((each, at) => each === before[at])) continue
    process.removeAllListeners(name)
    for (const listener of before) process.on(name, listener)
  }
}

/** The directory of the run that ended is gone under its name; an empty one is moved on to the next run. */
function emptyDirectory() {
  const isEmpty = entriesOf(directory)?.length === 0
  const beside = entriesOf(root) ?? []
  for (const name of beside) {
    const path = `${root}/${name}`
    if (!isEmpty || path !== directory) rmSync(path, REMOVE)
  }
  nextDirectory(isEmpty ? directory : undefined)
}

function entriesOf(path) {
  try {
    return readdirSync(path)
  } catch {
    return undefined
  }
}

function nextDirectory(previous) {
  number += 1
  directory = `${root}/${number}`
  if (previous) renameSync(previous, directory)
  else mkdirSync(directory, { recursive: true, mode: 0o700 })
  chdir(directory)
  for (const name of directoryVariables) {
    process.env[name] = directory
    expected.set(name, directory)
  }
}

/** The private directory of the run that is on, or of the next one. */
const privateDirectory = () => directory

module.exports = { prepare, privateDirectory, setTraceparent, setVariables, tidy }
