'use strict'

const missing = require('./missing.js')
const realm = require('./realm.js')
const teamModules = require('./team-modules.js')
const { compile } = require('./program.js')

// Words by which a source may reach the process, its files or its directory.
const SYSTEM = ['process', 'meta', '__dirname', '__filename']
// Words by which it may print past the console, or end at any instant.
const ALONE = 'child_process writeSync writeFileSync appendFileSync createWriteStream abort kill reallyExit'.split(' ')

/** Compiles a program with its modules, and looks from now on at what any of them may reach. Before its first run. */
function prepare(program) {
  missing.know(program.unmet)
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

module.exports = { prepare }
