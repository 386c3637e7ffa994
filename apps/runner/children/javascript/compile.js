'use strict'

/*
 * compile.js: makes the file that start.js reads, unless it is there, and prints its path; its name tells of which sources
 * and which Node it is. It has compiled what a child needs until it has done its first run, as a process of its own has
 * just done one that is nobody's.
 */

const { execFileSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { Script } = require('node:vm')
const { fileOf, partsOf } = require('./start.js')

const READABLE = 0o644
const ENTERABLE = 0o755
const CACHE = join(__dirname, '.cache')
const NO_PARTS = ['start.js', 'compile.js']

if (require.main === module) main(process.argv[2])
// To see that the file is there takes no process.
module.exports = { pathOfFile, isWhole }

function main(result) {
  if (result !== undefined) return rehearse(result)
  const path = pathOfFile()
  if (!isWhole(path)) make(path)
  process.stdout.write(path)
}

function pathOfFile() {
  const kind = [process.version, process.arch, sourceOfAll()].join('\n')
  return join(CACHE, createHash('sha256').update(kind).digest('hex').slice(0, 32))
}

/** One function with all modules, which starts the child. It is ASCII, so that each character is a byte. */
function sourceOfAll() {
  const names = fs.readdirSync(__dirname).filter((name) => name.endsWith('.js') && !NO_PARTS.includes(name))
  const modules = names.toSorted().map((name) => {
    const text = fs.readFileSync(join(__dirname, name), 'utf8')
    return `${JSON.stringify(`./${name}`)}: function (exports, require, module, __dirname) {${text}\n}`
  })
  const all = `(function (nodeRequire, directory) {
    const makers = {${modules.join(',\n')}}
    const loaded = new Map()
    function require(name) {
      const found = loaded.get(name)
      if (found !== undefined) return found.exports
      const make = makers[name]
      if (make === undefined) return nodeRequire(name)
      const module = { exports: {} }
      loaded.set(name, module)
      make(module.exports, require, module, directory)
      return module.exports
    }
    require('./main.js')
  })`
  const escaped = (text) => `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}`
  // Of those beyond 16 bits each half is one.
  return all.replace(/[^\0-\x7f]/g, escaped)
}

/** Makes the file, whole: what a machine that went down has left of one is made anew. */
function make(path) {
  const { types } = require('./channel.js')
  const work = fs.mkdtempSync(join(tmpdir(), 'automation-compile-'))
  try {
    const frames = join(work, 'frames')
    const compiled = join(work, 'compiled')
    fs.writeFileSync(frames, Buffer.from([1, 0, 0, 0, types.REHEARSE]))
    const stdio = ['ignore', 'ignore', 'inherit', fs.openSync(frames), fs.openSync('/dev/null', 'w')]
    execFileSync(process.execPath, [...process.execArgv, __filename, compiled], { cwd: work, stdio })
    fs.mkdirSync(CACHE, { recursive: true })
    fs.chmodSync(CACHE, ENTERABLE)
    const own = `${path}.${process.pid}`
    fs.writeFileSync(own, fs.readFileSync(compiled), { mode: READABLE, flush: true })
    fs.chmodSync(own, READABLE)
    fs.renameSync(own, path)
  } finally {
    fs.rmSync(work, { recursive: true, force: true })
  }
}

/** Whether the file is there, and holds what it says of itself. */
function isWhole(path) {
  try {
    return partsOf(fs.readFileSync(path)) !== undefined
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
}

/** Is the child for a run, and writes down what it has compiled. */
function rehearse(result) {
  const { reallyExit } = process
  const source = sourceOfAll()
  const script = new Script(source, { filename: `${__dirname}/modules.js` })
  process.reallyExit = (code) => {
    fs.writeFileSync(result, fileOf(Buffer.from(source, 'latin1'), script.createCachedData()))
    reallyExit(code)
  }
  script.runInThisContext()(require, __dirname)
}
