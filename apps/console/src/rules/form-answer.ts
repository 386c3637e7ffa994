import { digitsOf } from './exact-json.ts'

type FormAnswer =
  | { kind: 'nothing' }
  | { kind: 'text'; text: string }
  | { kind: 'link'; url: string; name: string }
  | { kind: 'list'; items: string[] }
  | { kind: 'table'; columns: string[]; rows: Record<string, unknown>[] }
  | { kind: 'json'; value: unknown }

/** Columns beyond these are only in the JSON. */
const MOST_COLUMNS = 20

/** How the page of a form shows what the process returned. */
export function answerOf(value: unknown): FormAnswer {
  if (value === null || value === undefined || value === '') return { kind: 'nothing' }
  if (typeof value === 'string')
    return isAddress(value) ? { kind: 'link', url: value, name: value } : { kind: 'text', text: value }
  if (typeof value === 'number' || typeof value === 'boolean') return { kind: 'text', text: String(value) }
  if (Array.isArray(value)) return listOf(value)
  return (isObject(value) && linkOf(value)) || { kind: 'json', value }
}

function listOf(values: unknown[]): FormAnswer {
  if (values.length === 0) return { kind: 'nothing' }
  if (values.every(isObject)) {
    const columns = [...new Set(values.flatMap((row) => Object.keys(row)))].slice(0, MOST_COLUMNS)
    return { kind: 'table', columns, rows: values }
  }
  if (values.every((item) => typeof item !== 'object')) return { kind: 'list', items: values.map(String) }
  return { kind: 'json', value: values }
}

/** An object of an address and at most a name for it. */
function linkOf(value: Record<string, unknown>): FormAnswer | undefined {
  const { url, name, title, filename, ...others } = value
  if (typeof url !== 'string' || !isAddress(url) || Object.keys(others).length > 0) return undefined
  const called = [title, name, filename].find((one) => typeof one === 'string')
  return { kind: 'link', url, name: typeof called === 'string' ? called : url }
}

// Of no other scheme: such a link would run what the process says on this page.
const isAddress = (text: string) => /^https?:\/\/\S+$/.test(text) && URL.canParse(text)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && digitsOf(value) === undefined

/** A cell of a table as text. */
export function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean)
}
