import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { parseExactly } from '../exact-json.ts'
import { readBody } from '../options/parameters.ts'
import { readHeaders, readPairs, repeated } from '../options/repeated.ts'
import { examples } from '../output/examples.ts'
import { usageError, type Runtime } from '../runtime.ts'

interface ApiOptions {
  data?: string
  query?: string[]
  header?: string[]
  include?: boolean
}

const methods: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/** `pas api`. */
export function register(program: Command, runtime: Runtime): void {
  examples(
    program
      .command('api')
      .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
      .argument('<path>', 'below the team, such as /processes; /api/… and /run are at the host')
      .description(
        'Make any call of the REST interface with the token of the context, and print the body of the answer.',
      )
      .option(
        '-d, --data <body>',
        'the body, @FILE for that of a file, @- for stdin; JSON unless a header says otherwise',
      )
      .option('-q, --query <name=value>', 'a query parameter', repeated)
      .option('-H, --header <name: value>', 'a header of the request', repeated)
      .option('-i, --include', 'tell status and headers of the answer on stderr')
      .action(call),
    'pas api GET /processes -q limit=5',
    `pas api PATCH /team -d '{"zoneId": "Europe/Berlin"}'`,
    'pas api POST /processes -d @process.json',
  )

  async function call(method: string, path: string, options: ApiOptions): Promise<void> {
    if (!methods.includes(method.toUpperCase()))
      throw usageError(`${method} is no method. There are ${methods.join(', ')}.`)
    if (!path.startsWith('/')) throw usageError(`A path begins with a slash: /${path}`)
    const client = await runtime.client()
    const headers = readHeaders(options.header)
    const rawBody = await readBody(runtime, options.data)
    const response = await client.open(method.toUpperCase(), path, {
      below: /^\/(api|run)(\/|$)/.test(path) ? 'host' : 'rest',
      accept: '*/*',
      query: readPairs(options.query, 'query parameter'),
      rawBody,
      headers: { ...(rawBody !== undefined && { 'content-type': 'application/json' }), ...headers },
    })
    if (options.include) {
      runtime.out.say(`HTTP ${response.status}`)
      for (const [name, value] of response.headers) runtime.out.say(`${name}: ${value}`)
    }
    await print(response)
  }

  async function print(response: Response): Promise<void> {
    const isJson = /^application\/([\w.-]+\+)?json\b/.test(response.headers.get('content-type') ?? '')
    if (isJson) {
      const text = await response.text()
      if (text !== '') runtime.out.data(runtime.out.json ? jsonOf(text) : text, { text })
    } else if (response.body !== null) await pipeline(response.body, runtime.stdout, { end: false })
  }
}

/** What an answer says that is declared as JSON: its text, where that is none. */
function jsonOf(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    return text
  }
}
