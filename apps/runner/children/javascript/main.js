'use strict'

/*
 * A child that runs JavaScript processes, one run at a time. A spare until it gets its first program. It answers each run
 * with its value or failure, then looks for what the run left behind, and says that it is clean or ends.
 */

const channel = require('./channel.js')
const connections = require('./connections.js')
const output = require('./output.js')
const realm = require('./realm.js')
const rehearsal = require('./rehearsal.js')
const resources = require('./resources.js')
const surroundings = require('./surroundings.js')
const loadedModules = require('./loaded-modules.js')
const missing = require('./missing.js')
const modules = require('./modules.js')
const teamModules = require('./team-modules.js')
const { compile, mainOf } = require('./program.js')
const { createSvc } = require('./svc.js')
const { serialise } = require('./value.js')
const { describe } = require('./failure.js')
const { AsyncLocalStorage } = require('node:async_hooks')

const { REHEARSE, PROGRAM, SURROUNDINGS, RUN, HELLO, VALUE, FAILURE, CLEAN, UNCLEAN } = channel.types
const { setImmediate } = globalThis
const { reallyExit } = process
const { parse, stringify } = JSON
const { apply, deleteProperty } = Reflect
const now = performance.now.bind(performance)
const then = Function.prototype.call.bind(Promise.prototype.then)
const settled = Promise.resolve()
const END = Object.freeze({})
// Words by which a source may reach the process, its files or its directory.
const SYSTEM = ['process', 'meta', '__dirname', '__filename']
// Words by which it may print past the console, or end at any instant.
const ALONE = 'child_process writeSync writeFileSync appendFileSync createWriteStream abort kill reallyExit'.split(' ')

let program
let compiled
let variables
let run

/** Waits for the next frame, and acts on it. Nothing else happens in this process meanwhile. */
function idle() {
  for (;;) {
    const frame = channel.receive()
    if (frame === undefined) return reallyExit(0)
    const { type, payload } = frame
    if (type === REHEARSE) return rehearse()
    if (type === PROGRAM) load(parse(payload.utf8Slice()))
    else if (type === SURROUNDINGS) surroundWith(parse(payload.utf8Slice()))
    else if (type === RUN) return begin(payload)
  }
}

/** Does once, while there is time, what the first program would wait for. */
function rehearse() {
  compile(rehearsal.MODULE_SOURCE, rehearsal.program.fileName)
  load(rehearsal.program)
  surroundWith(rehearsal.surroundings)
  begin(rehearsal.runPayload())
}

function load(next) {
  program = next
  compiled = undefined
  if (program.packages !== undefined) modules.showPackages(program.packages)
  process.argv = [process.execPath, program.fileName]
}

function surroundWith(next) {
  variables = next
  surroundings.setVariables(next.variables)
}

/** A run's frame: the length of its header, of its parameters, and then header, parameters and request. */
function begin(payload) {
  const headerEnd = 8 + payload.readUInt32LE(0)
  const parametersEnd = headerEnd + payload.readUInt32LE(4)
  const header = parse(payload.utf8Slice(8, headerEnd))
  run = {
    number: header.number,
    since: now(),
    outcome: undefined,
    replied: false,
    calls: new Map(),
    callNumber: 0,
  }
  const own = run
  const fail = (thrown) => end(own, failureOf(thrown))
  try {
    surroundings.setTraceparent(header.traceparent)
    compiled ??= prepare(program)
    output.restart(program.logs, compiled.printsAlone || modules.usedBuiltins().has('child_process'))
    const parameters = payload.utf8Slice(headerEnd, parametersEnd)
    const svc = createSvc({
      header,
      parameters,
      request: payload.utf8Slice(parametersEnd),
      surroundings: variables,
      ask: channel.asker(own, () => own !== run || own.outcome !== undefined),
    })
    for (const name of program.names) globalThis[name] = svc
    const directory = surroundings.privateDirectory()
    const team = teamModules.forRun({ prepared: compiled.modules, names: program.names, svc, directory })
    svc.import = team.use(compiled.imports)
    resources.watch()
    evaluate(own, { svc, team, directory }, fail)
  } catch (error) {
    fail(error)
  }
}

/** Evaluates the source; anew where an import before it waits for a package that is to be loaded first. */
function evaluate(own, { svc, team, directory }, fail) {
  const scope = modules.scopeOf({
    fileName: program.fileName,
    isModule: compiled.isModule,
    packages: new Map(program.names.map((name) => [name, svc])),
    directory,
    team: (name) => team.find(compiled.imports, name, ''),
    imports: compiled.imports,
    hasLiteral: compiled.hasLiteral,
  })
  const body = apply(compiled.evaluate(), compiled.isModule ? undefined : scope.module.exports, [...scope.values, END])
  const failed = (thrown) => {
    const loading = scope.hasBegun() ? undefined : modules.loadingOf(thrown)
    if (loading === undefined) return fail(thrown)
    const anew = () => {
      if (own.outcome === undefined) evaluate(own, { svc, team, directory }, fail)
    }
    then(loading, anew, fail)
  }
  then(then(settled, body), (value) => afterBody(own, scope, value, fail), failed)
}

/** The top level is through: its value counts, or, where it did not return, that of an exported `main`. */
function afterBody(own, scope, value, fail) {
  if (value !== END) return finish(own, value)
  try {
    const [main, holder] = mainOf(compiled.isModule, scope)
    if (main === undefined) return finish(own, undefined)
    then(then(settled, apply.bind(undefined, main, holder, [])), (result) => finish(own, result), fail)
  } catch (error) {
    fail(error)
  }
}

function finish(own, value) {
  if (own.outcome !== undefined) return
  try {
    end(own, serialise(value, program.returnValueMaxBytes))
  } catch (error) {
    end(own, failureOf(error))
  }
}

const failureOf = (thrown) => ({ failure: describe(thrown) })
const ended = (message) => ({ failure: { name: 'Error', message, stack: `Error: ${message}` } })

/** The run is over. One turn of the event loop later it is answered, so that rejections nobody handled still count. */
function end(own, outcome) {
  if (own.outcome !== undefined && own.outcome.failure !== undefined) return
  const first = own.outcome === undefined
  own.outcome = outcome
  if (first) setImmediate(() => reply(own))
}

function reply(own) {
  answer(own)
  if (own === run) inCleanContext(goOn)
}

function answer(own) {
  if (own.replied) return
  own.replied = true
  output.flush()
  own.tookUs = Math.round((now() - own.since) * 1000)
  const { failure, text, transient } = own.outcome
  if (failure === undefined) channel.send(VALUE, own.number, text, transient ? 1 : 0)
  else channel.send(FAILURE, own.number, stringify(failure))
}

/** After the answer: looks for what the run left behind, and waits for the next one or ends. */
function goOn() {
  output.mute()
  for (const name of program.names) deleteProperty(globalThis, name)
  if (resources.mayHaveConnections() && attempt(() => connections.closeKept(modules.usedBuiltins())) === true)
    setImmediate(() => setImmediate(conclude))
  else conclude()
}

function conclude() {
  resources.unwatch()
  const reason = run.calls.size > 0 ? 'a call to the service' : attempt(changed)
  // Marked where what the run left may have printed since the answer, past the console.
  const took = run.tookUs + (modules.usedBuiltins().size > 0 ? '?' : '')
  channel.send(reason === undefined ? CLEAN : UNCLEAN, run.number, reason ?? took)
  if (reason === undefined || run.number === rehearsal.NUMBER) return idle()
  reallyExit(0)
}

/** What user code changed may make the look at it fail. */
function attempt(look) {
  try {
    return look()
  } catch (error) {
    return `the look at what was left failed: ${error}`
  }
}

function changed() {
  // Where a program has no word for it, and asked for no module, there is nothing to put back.
  const system = modules.usedBuiltins().size > 0 || compiled === undefined || compiled.mayReachSystem
  return resources.tidy(system) ?? (system ? (surroundings.tidy() ?? loadedModules.tidy()) : undefined) ?? realm.tidy()
}

/** A fault of this program itself, before any run. */
function giveUp(error) {
  process._rawDebug(error.stack)
  reallyExit(70)
}

/** Compiles a program with its modules, and looks from now on at what any of them may reach. Before its first run. */
function prepare(program) {
  missing.know(program.unmet, program.packagesFault)
  if (program.modulesFault !== undefined) throw new Error(program.modulesFault)
  const made = compile(program.source, program.fileName)
  const prepared = teamModules.prepare(program)
  const words = prepared.reduce((all, each) => all.union(each.words), made.words)
  realm.observe(words)
  const has = (word) => words.has(word)
  return {
    ...made,
    modules: prepared,
    imports: teamModules.mapOf(program.imports),
    mayReachSystem: realm.isDynamic() || SYSTEM.some(has),
    printsAlone: ALONE.some(has),
  }
}

process.on('uncaughtException', (error) => {
  if (run === undefined) giveUp(error)
  if (process.listenerCount('uncaughtException') === 1) end(run, failureOf(error))
})
process.on('unhandledRejection', (reason) => {
  if (process.listenerCount('unhandledRejection') === 1) end(run, failureOf(reason))
})
process.on('beforeExit', () => {
  if (run.outcome === undefined) end(run, ended('The run waits for a promise that can never settle'))
})
process.on('exit', (code) => {
  if (run === undefined || run.replied) return
  run.outcome ??= failureOf(new Error(`process.exit(${code}) was called before the run had a value`))
  answer(run)
})

const inCleanContext = AsyncLocalStorage.snapshot()
output.install()
resources.trackUnseenWork()
process.mainModule = undefined
modules.watchBuiltins({ used: realm.observeModule, given: realm.observeFunctions })
surroundings.prepare()
realm.capture()
channel.send(HELLO, 0, '')
setImmediate(idle)
