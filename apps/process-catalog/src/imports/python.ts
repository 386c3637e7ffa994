import type { LiteralImport } from './imports.ts'

// Comments and strings (kept as one token each), names with dots, ends of statements, and single signs.
const token =
  /#[^\n\r]*|(?:\b[rRbBuUfFtT]{1,2})?(?:"""(?:\\[^]|(?!""")[^\\])*(?:"""|$)|'''(?:\\[^]|(?!''')[^\\])*(?:'''|$)|"(?:\\[^]|[^"\\\n]+)*["\n]?|'(?:\\[^]|[^'\\\n]+)*['\n]?)|[\p{L}_][\p{L}\p{N}\p{M}_]*(?:[ \t]*\.[ \t]*[\p{L}_][\p{L}\p{N}\p{M}_]*)*|\\\r?\n|[\n\r;]|[^\s\p{L}_]/gu

// More than the two arguments have, with line breaks between them.
const maxArgumentTokens = 20

/**
 * Literal imports of a Python source: `import a.b, c`, `from a import b` and `svc.import_module('name', 'tag')`. A dotted
 * name may be a module of that name, or one with a shorter one before the dots.
 */
export function pythonImports(source: string): LiteralImport[] {
  const tokens = (source.match(token) ?? []).filter((each) => !each.startsWith('#') && !/^\\\r?\n$/.test(each))
  const found: LiteralImport[] = []
  for (let at = 0; at < tokens.length; at += 1) {
    const word = withoutBlanks(tokens[at]!)
    const isStart = at === 0 || /^[\n\r;:]$/.test(tokens[at - 1]!)
    if (isStart && word === 'import') found.push(...namesFrom(tokens, at + 1).flatMap(prefixes))
    else if (isStart && word === 'from') found.push(...fromImport(tokens, at + 1))
    else if (/(?:^|\.)import_module$/.test(word)) found.push(...called(tokens, at + 1))
  }
  return found
}

/** The names of `a.b as x, c`, also in brackets and then over lines, without those that they get. */
function namesFrom(tokens: string[], from: number): string[] {
  const inBrackets = tokens[from] === '('
  const end = inBrackets ? /^\)$/ : /^[\n\r;]$/
  const names: string[] = []
  let wanted = true
  for (let at = inBrackets ? from + 1 : from; at < tokens.length && !end.test(tokens[at]!); at += 1) {
    const each = tokens[at]!
    if (/^[\n\r]$/.test(each)) continue
    if (!isName(each) && each !== ',') break
    if (wanted && each !== ',') names.push(withoutBlanks(each))
    wanted = each === ','
  }
  return names
}

function fromImport(tokens: string[], at: number): LiteralImport[] {
  const [from, word] = [tokens[at], tokens[at + 1]]
  if (from === undefined || !isName(from) || word !== 'import') return []
  const name = withoutBlanks(from)
  const inside = namesFrom(tokens, at + 2).map((each) => ({ name: `${name}.${each}` }))
  return [...prefixes(name), ...inside]
}

/** The arguments of `import_module(`: the name, and the tag with or without its own name; all of them plain strings. */
function called(tokens: string[], at: number): LiteralImport[] {
  const [open, name, ...rest] = tokens.slice(at, at + maxArgumentTokens).filter((each) => !/^[\n\r]$/.test(each))
  const text = open === '(' && name !== undefined ? textOf(name) : undefined
  if (text === undefined) return []
  if (rest[0] === ')' || (rest[0] === ',' && rest[1] === ')')) return [{ name: text }]
  if (rest[0] !== ',') return []
  const given = rest[2] === '=' ? rest[3] : rest[1]
  const tag = given === undefined ? undefined : textOf(given)
  return tag === undefined ? [] : [{ name: text, tag }]
}

function prefixes(name: string): LiteralImport[] {
  const parts = name.split('.')
  return parts.map((_, index) => ({ name: parts.slice(0, index + 1).join('.') }))
}

const isName = (each: string) => /^[\p{L}_]/u.test(each) && !/["']/.test(each)

const withoutBlanks = (each: string) => (/["']/.test(each) ? each : each.replaceAll(/[ \t]/g, ''))

/** A plain string; one with escapes or expressions is no literal name. */
function textOf(each: string): string | undefined {
  return /^[uUrR]?(["'])([^\\"']*)\1$/.exec(each)?.[2]
}
