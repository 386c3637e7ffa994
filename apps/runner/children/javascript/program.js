'use strict'

/*
 * One version of a process's source, compiled once and evaluated afresh for each run. The source runs inside an async
 * function, so that `return` and `await` work at its top level; the name of every line stays what the user wrote.
 */

const vm = require('node:vm')
const esModules = require('./es-modules.js')

const { IMPORT, META, EXPORTS, LOAD } = esModules.names
const END = '$svc$e'
const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname', IMPORT, META, EXPORTS, LOAD, END]
const AsyncFunction = (async () => {}).constructor

/**
 * Compiles a source: of a process, or, with `own` (the names that it gets beside a process's), of a module, which can't
 * wait at its top level. Gives `{ isModule, words, hasLiteral, evaluate }`: `evaluate` makes a fresh async function of the
 * user's code, `words` are the identifiers that occur in it, `hasLiteral(name)` tells whether an import has this name.
 * Throws a SyntaxError whose stack names the user's line.
 */
function compile(source, fileName, own) {
  const text = source.replace(/^\uFEFF/, '').replace(/^#!/, '//')
  const mayHaveModuleSyntax = /\b(?:import|export)\b/.test(text)
  try {
    const { isModule, prefix, code } = mayHaveModuleSyntax
      ? esModules.rewrite(text)
      : { isModule: false, prefix: '', code: text }
    const parameters = own === undefined ? PARAMETERS : [...PARAMETERS, ...own]
    const opening = `(function(${parameters.join()}){return ${own === undefined ? 'async' : ''}()=>{${prefix}`
    const script = new vm.Script(`${opening}${code}\nreturn ${END}}})`, {
      filename: fileName,
      columnOffset: -opening.length,
      // For code that is made at run time, which the rewriting of `import(` does not reach.
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    if (!mayHaveModuleSyntax) refuseEscapes(code, own === undefined ? AsyncFunction : Function)
    return {
      isModule,
      words: new Set(text.match(/[A-Za-z_$][\w$]*/g)),
      hasLiteral: (name) => importOf(name).test(text),
      evaluate: () => script.runInThisContext(),
    }
  } catch (error) {
    throw error instanceof SyntaxError ? withUsersLine(error, text, fileName) : error
  }
}

const importOf = (name) =>
  new RegExp(String.raw`\b(?:import|from|require|resolve)\s*\(?\s*(['"\`])${RegExp.escape(name)}\1`)

/** A source such as `}); (() => {` would close the function around it; as a function's whole body it is refused. */
function refuseEscapes(code, Kind) {
  new Kind(code)
}

/** The error with the user's line. One that the engine places nowhere, or in our closing line, is looked for anew. */
function withUsersLine(thrown, text, fileName) {
  const last = text.split('\n').length
  const found = lineOf(thrown, fileName)
  const error = found <= last ? thrown : (esModules.faultOf(text) ?? thrown)
  const line = error === thrown ? found : error.line
  const column = error.column === undefined ? '' : `:${error.column + 1}`
  const message = line > last ? 'Unexpected end of input' : error.message
  const where = line === undefined ? fileName : `${fileName}:${Math.min(line, last)}${column}`
  const plain = new SyntaxError(message)
  plain.stack = `SyntaxError: ${message}\n    at ${where}`
  return plain
}

function lineOf({ line, stack }, fileName) {
  const position = /^(.*):(\d+)\n/.exec(stack)
  return line ?? (position?.[1] === fileName ? Number(position[2]) : undefined)
}

/** The `main` that the source exports, as a module or, whatever its syntax, by `module.exports`; with what holds it. */
function mainOf(isModule, { module, exported }) {
  return (isModule && mainAmong(exported, exported.default)) || mainAmong(module.exports, module.exports) || []
}

function mainAmong(exports, single) {
  for (const holder of [exports, exports?.default]) {
    if (typeof holder?.main === 'function') return [holder.main, holder]
  }
  return typeof single === 'function' ? [single, undefined] : undefined
}

module.exports = { compile, mainOf }
