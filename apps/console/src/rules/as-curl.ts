/** A text within single quotes of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

type QueryValue = string | number | boolean | readonly string[] | undefined

export interface RestCall {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Behind `/api/{team}/rest`. */
  path: string
  /** Lists are repeated, and what is absent or empty is left out, as the pages themselves ask. */
  query?: Readonly<Record<string, QueryValue>>
  /** Sent as JSON. */
  body?: unknown
  /** A file of the shell's directory that is sent, in place of a body. */
  form?: string
}

/** A call of a team's REST interface by curl. The token is in a variable of the shell, as it is nobody else's to have. */
export function restCurl(
  apiUrl: string,
  team: string,
  { method = 'GET', path, query = {}, body, form }: RestCall,
): string {
  const lines = [
    `curl -sS ${method === 'GET' ? '' : `-X ${method} `}${quoted(`${apiUrl}/api/${encodeURIComponent(team)}/rest${path}${queryText(query)}`)}`,
    '  -H "Authorization: Bearer $token"',
    ...(body === undefined ? [] : [`  -H 'Content-Type: application/json'`, `  -d ${quoted(JSON.stringify(body))}`]),
    ...(form === undefined ? [] : [`  -F ${quoted(form)}`]),
  ]
  return lines.join(' \\\n')
}

const isList = (value: QueryValue): value is readonly string[] => Array.isArray(value)

function queryText(query: Readonly<Record<string, QueryValue>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (isList(value) ? value : [value ?? '']).map((one) => [name, String(one)]),
  )
  const text = new URLSearchParams(pairs.filter(([, value]) => value !== '')).toString()
  return text === '' ? '' : `?${text}`
}

interface Start {
  slug: string
  parameters: Readonly<Record<string, unknown>>
  /** A version or an alias. */
  tag?: string
  comment?: string
}

/** The start of a process from the code of another one. */
export function startInCode({ slug, ...options }: Start, language: 'JAVASCRIPT' | 'PYTHON'): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  if (language === 'PYTHON') {
    const named = given.map(([name, value]) => `, ${name}=${inPython(value)}`).join('')
    return `value = svc.processes.run_sync(${JSON.stringify(slug)}${named})`
  }
  const members = given.map(
    ([name, value]) => `${name}: ${JSON.stringify(value, undefined, 1).replaceAll(/\n\s*/g, ' ')}`,
  )
  return `const value = await svc.processes.runSync(${JSON.stringify(slug)}, { ${members.join(', ')} })`
}

/** A JSON value as Python writes it. */
function inPython(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(inPython).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${inPython(member)}`)
  return `{${members.join(', ')}}`
}
