import { parsedExactly } from './exact-json.ts'

/** JSON as people read it: a text that holds JSON is laid out, another one stays as it is. */
export function laidOut(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? ''
  try {
    return JSON.stringify(parsedExactly(value), null, 2)
  } catch (error) {
    if (error instanceof SyntaxError) return value
    throw error
  }
}

/** What a text of JSON holds; of another text the text itself. */
export function valueOf(text: string): unknown {
  try {
    return parsedExactly(text)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

/** The object that a text of JSON is, or what is wrong with it. */
export function readObject(text: string): { value: Record<string, unknown> } | { fault: string } {
  if (text.trim() === '') return { value: {} }
  try {
    const value = parsedExactly(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { fault: 'Parameters are an object, such as {"name": "world"}' }
    return { value: value as Record<string, unknown> }
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: error.message }
    throw error
  }
}

interface JsonFault {
  message: string
  /** From 1. */
  line: number
}

/** The value of a JSON text, `{}` of an empty one; else why it can't be read, and in which line. */
export function jsonOf(text: string): { value: unknown } | { fault: JsonFault } {
  if (text.trim() === '') return { value: {} }
  try {
    return { value: parsedExactly(text) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { fault: { message: `This is not JSON: ${error.message}`, line: lineOf(text, error.message) } }
  }
}

function lineOf(text: string, message: string): number {
  const line = /line (\d+)/.exec(message)?.[1]
  if (line !== undefined) return Number(line)
  const position = /position (\d+)/.exec(message)?.[1]
  return text.slice(0, position === undefined ? text.length : Number(position)).split('\n').length
}
