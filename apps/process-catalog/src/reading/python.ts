import { isShared } from '../dependencies/python-packages.ts'
import type { Findings } from './findings.ts'
import { pythonLibrary } from './python-library.ts'
import { PythonTokens } from './python-tokens.ts'

/**
 * Finds `import a.b, c` and `from a import b`, which may mean a module or a package, and `svc.import_module('name', 'tag')`,
 * which means a module. A dotted name may be a module of that name, or one with a shorter one before the dots; a package
 * is known by its first part, or by more where several share that.
 */
export function readPython(source: string, findings: Findings): void {
  const tokens = new PythonTokens(source.replace(/^\uFEFF/, ''), (text) => findings.comment(text))
  while (tokens.kind !== 'end') {
    const { isFirst } = tokens
    if (isFirst && taken(tokens, 'import')) readImport(tokens, findings)
    else if (isFirst && taken(tokens, 'from')) readFrom(tokens, findings)
    else if (taken(tokens, 'import_module') || taken(tokens, 'importModule')) readCall(tokens, findings)
    else tokens.next()
  }
}

/** `a.b as x, c` */
function readImport(tokens: PythonTokens, findings: Findings): void {
  do {
    readName(tokens, findings)
    if (taken(tokens, 'as') && tokens.kind === 'word') tokens.next()
  } while (taken(tokens, ','))
}

/** `a.b import c as x, d`, in brackets also over lines; nothing of what is relative. */
function readFrom(tokens: PythonTokens, findings: Findings): void {
  const from = readName(tokens, findings)
  if (from === '' || !taken(tokens, 'import')) return
  const inBrackets = taken(tokens, '(')
  do {
    if (inBrackets) skipBreaks(tokens)
    if (tokens.kind !== 'word') return
    findPackage(`${from}.${tokens.token}`, findings)
    findings.module(`${from}.${tokens.token}`)
    tokens.next()
    if (inBrackets) skipBreaks(tokens)
    if (taken(tokens, 'as') && tokens.kind === 'word') tokens.next()
    if (inBrackets) skipBreaks(tokens)
  } while (taken(tokens, ','))
}

/** A dotted name, which it gives; empty where there is none. */
function readName(tokens: PythonTokens, findings: Findings): string {
  let name = ''
  do {
    if (tokens.kind !== 'word') break
    name = name === '' ? tokens.token : `${name}.${tokens.token}`
    findPackage(name, findings)
    findings.module(name)
    tokens.next()
  } while (taken(tokens, '.'))
  findings.written(name)
  return name
}

/** Of a dotted name and its beginnings, which are found before it. */
function findPackage(name: string, findings: Findings): void {
  const first = name.split('.', 1)[0]!
  if (name === first ? !pythonLibrary.has(first) : isShared(first)) findings.package(name)
}

/** `('name')`, `('name', 'tag')` or `('name', tag='tag')`, all of them plain texts. */
function readCall(tokens: PythonTokens, findings: Findings): void {
  const name = taken(tokens, '(') ? readText(tokens) : undefined
  if (name === undefined) return
  const hasMore = taken(tokens, ',')
  skipBreaks(tokens)
  if (tokens.is(')')) {
    findings.module(name)
    return findings.written(name, '')
  }
  if (!hasMore) return
  if (tokens.kind === 'word') {
    tokens.next()
    if (!taken(tokens, '=')) return
  }
  const tag = readText(tokens)
  if (tag === undefined || !(tokens.is(')') || tokens.is(','))) return
  findings.module(name, tag)
  findings.written(name, tag)
}

/** A plain text, with line breaks around it; undefined for one with escapes or expressions. */
function readText(tokens: PythonTokens): string | undefined {
  skipBreaks(tokens)
  const text = tokens.kind === 'text' ? /^[uUrR]?(["'])([^\\"']*)\1$/.exec(tokens.token)?.[2] : undefined
  if (tokens.kind === 'text') tokens.next()
  skipBreaks(tokens)
  return text
}

/** Goes on where the token is this word or sign. */
function taken(tokens: PythonTokens, text: string): boolean {
  const isThere = tokens.is(text)
  if (isThere) tokens.next()
  return isThere
}

function skipBreaks(tokens: PythonTokens): void {
  while (taken(tokens, '\n'));
}
