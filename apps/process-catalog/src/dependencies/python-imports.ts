import { pythonLibrary } from './python-library.ts'
import type { Mentioned } from './detect.ts'

const importLine = /^[ \t]*import[ \t]+(.+)$/
const fromLine = /^[ \t]*from[ \t]+([\p{L}_][\p{L}\p{N}_]*)[\p{L}\p{N}_.]*[ \t]+import\b/u
const dotted = /^[ \t]*([\p{L}_][\p{L}\p{N}_]*)[\p{L}\p{N}_.]*[ \t]*(?:as[ \t]+[\p{L}_][\p{L}\p{N}_]*[ \t]*)?$/u

/** What a Python source imports, and its comments. Never fails: what it can't read it passes over. */
export function pythonImports(source: string): Mentioned {
  const { code, comments } = withoutTexts(source)
  const names = new Set<string>()
  for (const line of code.replaceAll(/\\\r?\n/g, ' ').split(/[\r\n;]|:(?=[ \t]*(?:import|from)\b)/)) {
    const from = fromLine.exec(line)?.[1]
    if (from !== undefined) names.add(from)
    for (const part of importLine.exec(line)?.[1]?.split(',') ?? []) {
      const name = dotted.exec(part)?.[1]
      if (name !== undefined) names.add(name)
    }
  }
  return { imports: [...names].filter((name) => !pythonLibrary.has(name)), comments }
}

/** The source with its texts emptied and its comments taken out. */
function withoutTexts(source: string): { code: string; comments: string[] } {
  const comments: string[] = []
  let code = ''
  for (let at = 0; at < source.length;) {
    const char = source[at]!
    if (char === '#') {
      const length = source.slice(at).search(/[\n\r]/)
      const end = length < 0 ? source.length : at + length
      comments.push(source.slice(at + 1, end))
      at = end
    } else if (char === '"' || char === "'") {
      const triple = source.startsWith(char.repeat(3), at)
      const quote = triple ? char.repeat(3) : char
      at = textEnd(source, at + quote.length, quote)
      code += '""'
    } else {
      code += char
      at += 1
    }
  }
  return { code, comments }
}

function textEnd(source: string, from: number, quote: string): number {
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1
    else if (source.startsWith(quote, at)) return at + quote.length
    else if (quote.length === 1 && source[at] === '\n') return at
  }
  return source.length
}
