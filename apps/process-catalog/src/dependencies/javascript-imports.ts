import { isBuiltin } from 'node:module'
import type { Mentioned } from './detect.ts'

interface Token {
  kind: 'word' | 'text' | 'sign'
  text: string
}

// After these words, a slash begins a regular expression.
const beforeRegex = new Set('return typeof instanceof in of new delete void throw case do else await yield'.split(' '))

/** What a JavaScript source imports by literal names, and its comments. Never fails: what it can't read it passes over. */
export function javascriptImports(source: string): Mentioned {
  const { tokens, comments } = tokenise(source)
  const names = new Set<string>()
  tokens.forEach((token, at) => {
    if (token.kind === 'text' && isImported(tokens, at)) {
      const name = packageOf(token.text)
      if (name !== undefined) names.add(name)
    }
  })
  return { imports: [...names], comments }
}

/** `import 'x'`, `from 'x'`, `import('x')`, `require('x')`; not `svc.import('x')`. */
function isImported(tokens: Token[], at: number): boolean {
  const is = (offset: number, ...texts: string[]) => {
    const token = tokens[at + offset]
    return token !== undefined && token.kind !== 'text' && texts.includes(token.text)
  }
  if (is(-1, 'import', 'from')) return !is(-2, '.')
  return is(-1, '(') && is(-2, 'import', 'require') && !is(-3, '.') && (is(1, ')') || is(1, ','))
}

/** `@scope/name/deep` → `@scope/name`; undefined for files, URLs and what Node has itself. */
function packageOf(specifier: string): string | undefined {
  if (isBuiltin(specifier) || /^[./#]|^[a-z][a-z+.-]*:/i.test(specifier)) return undefined
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function tokenise(source: string): { tokens: Token[]; comments: string[] } {
  const tokens: Token[] = []
  const comments: string[] = []
  // How deep in braces each open `${` of a template lies.
  const templates: number[] = []
  let depth = 0
  let at = source.startsWith('#!') ? lineEnd(source, 0) : 0
  while (at < source.length) {
    const char = source[at]!
    const next = source[at + 1]
    if (char === '/' && next === '/') {
      const end = lineEnd(source, at)
      comments.push(source.slice(at + 2, end))
      at = end
    } else if (char === '/' && next === '*') {
      const end = source.indexOf('*/', at + 2)
      comments.push(source.slice(at + 2, end < 0 ? source.length : end))
      at = end < 0 ? source.length : end + 2
    } else if (char === '/' && startsRegex(tokens.at(-1))) {
      at = regexEnd(source, at)
      tokens.push({ kind: 'sign', text: '/…/' })
    } else if (char === '"' || char === "'") {
      const end = quotedEnd(source, at)
      tokens.push({ kind: 'text', text: source.slice(at + 1, end - 1) })
      at = end
    } else if (char === '`' || (char === '}' && templates.at(-1) === depth)) {
      const wasInside = char === '}'
      if (wasInside) templates.pop()
      const [end, isOpen] = templateEnd(source, at + 1)
      if (isOpen) templates.push(depth)
      else if (!wasInside) tokens.push({ kind: 'text', text: source.slice(at + 1, end - 1) })
      tokens.push(isOpen ? { kind: 'sign', text: '${' } : { kind: 'sign', text: '`' })
      if (!isOpen && !wasInside) tokens.pop()
      at = end
    } else if (/[\w$\u0080-\uffff]/.test(char)) {
      const [word] = /^[\w$\u0080-\uffff]+/.exec(source.slice(at, at + 256))!
      tokens.push({ kind: 'word', text: word })
      at += word.length
    } else {
      if (char === '{') depth += 1
      if (char === '}') depth -= 1
      if (!/\s/.test(char)) tokens.push({ kind: 'sign', text: char })
      at += 1
    }
  }
  return { tokens, comments }
}

function startsRegex(before: Token | undefined): boolean {
  if (before === undefined) return true
  if (before.kind === 'word') return beforeRegex.has(before.text)
  return before.kind === 'sign' && !/^(?:[)\]}`]|\/…\/)$/.test(before.text)
}

function lineEnd(source: string, from: number): number {
  const end = source.slice(from).search(/[\n\r\u2028\u2029]/)
  return end < 0 ? source.length : from + end
}

/** After the regular expression that begins here; on the next character where its line ends before it does. */
function regexEnd(source: string, from: number): number {
  let inClass = false
  for (let at = from + 1; at < source.length && !/[\n\r]/.test(source[at]!); at += 1) {
    if (source[at] === '\\') at += 1
    else if (source[at] === '[') inClass = true
    else if (source[at] === ']') inClass = false
    else if (source[at] === '/' && !inClass) return at + 1
  }
  return from + 1
}

function quotedEnd(source: string, from: number): number {
  for (let at = from + 1; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1
    else if (source[at] === source[from] || source[at] === '\n') return at + 1
  }
  return source.length
}

/** After a template's end, or after the `${` that interrupts it. */
function templateEnd(source: string, from: number): [end: number, isOpen: boolean] {
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1
    else if (source[at] === '`') return [at + 1, false]
    else if (source[at] === '$' && source[at + 1] === '{') return [at + 2, true]
  }
  return [source.length, false]
}
