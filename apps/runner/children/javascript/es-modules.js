'use strict'

/*
 * ES module syntax in a source that runs inside a function: imports become constants of the first line, exports become
 * getters of an object. Every edit keeps the lines, and the columns of what it does not replace.
 */

// Loaded when a source has the words `import` or `export`.
let acorn

const IMPORT = '$svc$i'
const META = '$svc$_$meta'
const EXPORTS = '$svc$x'
const LOAD = '$svc$l'

/**
 * Gives `{ isModule, prefix, code }`: the source with its module syntax replaced, and what is to stand before it on its
 * first line: its imports, then a call that says that they are done. Throws a SyntaxError with `line` and `column` when it
 * is neither a script nor a module.
 */
function rewrite(source) {
  acorn ??= require('acorn')
  const script = parse(source, 'script')
  if (script.program) return edited(source, script.program, false)
  const module = parse(source, 'module')
  if (module.program) return edited(source, module.program, true)
  throw script.error.pos > module.error.pos ? script.error : module.error
}

function parse(source, sourceType) {
  try {
    const options = { allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true, allowHashBang: true }
    return { program: acorn.parse(source, { ecmaVersion: 'latest', sourceType, ...options }) }
  } catch (thrown) {
    const error = new SyntaxError(messageOf(thrown, source))
    return { error: Object.assign(error, { pos: thrown.pos, line: thrown.loc?.line, column: thrown.loc?.column }) }
  }
}

/** The parser's message as the engine puts it. */
function messageOf({ message, pos }, source) {
  const plain = message.replace(/ \(\d+:\d+\)$/, '')
  if (plain !== 'Unexpected token') return plain
  if (pos >= source.length) return 'Unexpected end of input'
  return `Unexpected token '${/^(?:[\w$]+|[^])/u.exec(source.slice(pos, pos + 100))[0]}'`
}

/** What is wrong with a source that is no module, with `line` and `column`; undefined when nothing is found. */
function faultOf(source) {
  acorn ??= require('acorn')
  return parse(source, 'script').error
}

function edited(source, program, isModule) {
  const edits = []
  const hoisted = []
  const getters = []
  const replace = (start, end, text) => edits.push({ start, end, text })
  for (const node of program.body) rewriteStatement(node, source, replace, hoisted, getters)
  rewriteExpressions(program, replace)
  edits.sort((a, b) => a.start - b.start)
  let code = ''
  let at = 0
  for (const { start, end, text } of edits) {
    code += source.slice(at, start) + text
    at = end
  }
  return {
    isModule,
    prefix: isModule ? `'use strict';${getters.join('')}${hoisted.join('')}${LOAD}.done();` : '',
    code: code + source.slice(at),
  }
}

/** Getters come before imports: of modules that import each other, one finds the functions of the other. */
function rewriteStatement(node, source, replace, hoisted, getters) {
  const blank = (start, end) => replace(start, end, source.slice(start, end).replace(/[^\n\r\u2028\u2029]/g, ' '))
  switch (node.type) {
    case 'ImportDeclaration':
      hoisted.push(importOf(node, positionOf(node, source)))
      return blank(node.start, node.end)
    case 'ExportAllDeclaration':
      hoisted.push(reexportAll(node, positionOf(node, source)))
      return blank(node.start, node.end)
    case 'ExportNamedDeclaration':
      if (node.source) hoisted.push(...node.specifiers.map((each) => reexport(node, each, positionOf(node, source))))
      else getters.push(...namesOf(node).map(([exported, local]) => getter(exported, local)))
      return node.declaration ? blank(node.start, node.declaration.start) : blank(node.start, node.end)
    case 'ExportDefaultDeclaration': {
      const { declaration } = node
      if (declaration.id && /^(Function|Class)Declaration$/.test(declaration.type)) {
        getters.push(getter('default', declaration.id.name))
        return blank(node.start, declaration.start)
      }
      replace(node.start, declaration.start, defaultAssignment(source.slice(node.start, declaration.start)))
      return replace(declaration.end, declaration.end, ';')
    }
  }
}

/** `export default ` and `$svc$x.default=` are equally long. */
const defaultAssignment = (keywords) => `${EXPORTS}.default=` + keywords.slice(15).replace(/\S/g, ' ')

const quoted = (node) => JSON.stringify(node.type === 'Literal' ? node.value : node.name)

/** Line and column as two arguments, for a fault of what is hoisted. */
function positionOf(node, source) {
  const { line, column } = acorn.getLineInfo(source, node.start)
  return `${line},${column + 1}`
}

function importOf({ source, specifiers }, position) {
  const from = quoted(source)
  const all = specifiers.find(({ type }) => type === 'ImportNamespaceSpecifier')
  const named = specifiers.filter(({ type }) => type !== 'ImportNamespaceSpecifier')
  const pairs = named.map((each) => [each.imported ? quoted(each.imported) : '"default"', each.local.name])
  const wanted = pairs.map(([imported]) => imported).join(',')
  const loaded = `${LOAD}(${from},[${wanted}],${position})`
  const pattern = pairs.map(([imported, local]) => `${imported}:${local}`).join(',')
  const whole = all ? `const ${all.local.name}=${loaded};` : ''
  if (pairs.length === 0) return whole || `${loaded};`
  return `${whole}const{${pattern}}=${loaded};`
}

function reexport(node, { local, exported }, position) {
  const from = quoted(node.source)
  const value = `${LOAD}(${from},[${quoted(local)}],${position})[${quoted(local)}]`
  return defined(exported, value) + loadNow(from, position)
}

function reexportAll({ source, exported }, position) {
  const all = `${LOAD}(${quoted(source)},[],${position})`
  if (exported) return defined(exported, all) + loadNow(quoted(source), position)
  return `${LOAD}.defineAll(${EXPORTS},${all});`
}

const defined = (exported, value) => `${LOAD}.define(${EXPORTS},${quoted(exported)},()=>${value});`

/** Behind the name that is exported: one of two modules that import each other finds it while the other is loaded. */
const loadNow = (from, position) => `${LOAD}(${from},[],${position});`

const getter = (exported, local) => `${LOAD}.define(${EXPORTS},${JSON.stringify(exported)},()=>${local});`

function namesOf({ declaration, specifiers }) {
  if (!declaration) return specifiers.map(({ local, exported }) => [exported.name ?? exported.value, local.name])
  if (declaration.id) return [[declaration.id.name, declaration.id.name]]
  return declaration.declarations.flatMap(({ id }) => boundNames(id)).map((name) => [name, name])
}

function boundNames(pattern) {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name]
    case 'ObjectPattern':
      return pattern.properties.flatMap((each) => boundNames(each.value ?? each.argument))
    case 'ArrayPattern':
      return pattern.elements.flatMap(boundNames)
    case 'AssignmentPattern':
      return boundNames(pattern.left)
    case 'RestElement':
      return boundNames(pattern.argument)
    default:
      return []
  }
}

/** `import(` and `import.meta` anywhere become names of the same length. */
function rewriteExpressions(node, replace) {
  const open = [node]
  while (open.length > 0) {
    const next = open.pop()
    if (next.type === 'ImportExpression') replace(next.start, next.start + 6, IMPORT)
    if (next.type === 'MetaProperty' && next.meta.name === 'import') replace(next.start, next.end, META)
    for (const key in next) {
      const value = next[key]
      if (Array.isArray(value)) {
        // Not spread: there may be more elements than a call takes arguments.
        for (const each of value) if (each?.type) open.push(each)
      } else if (value?.type) open.push(value)
    }
  }
}

module.exports = { rewrite, faultOf, names: { IMPORT, META, EXPORTS, LOAD } }
