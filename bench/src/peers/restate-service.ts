import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

/** The no-op as a Restate service on PORT; how many calls it had is told at COUNT_PORT. */
interface Sdk {
  service(definition: object): object
  serve(options: { services: object[]; port: number }): Promise<number>
}

let calls = 0
const { service, serve } = (await import(pathToFileURL(process.env['RESTATE_SDK'] ?? '').href)) as Sdk
const bench = service({
  name: 'bench',
  handlers: {
    noop: async (_context: unknown, parameters: { n: number }) => {
      calls += 1
      return { n: parameters.n }
    },
  },
})
await serve({ services: [bench], port: Number(process.env['PORT']) })
createServer((_, response) => response.end(String(calls))).listen(Number(process.env['COUNT_PORT']), '127.0.0.1')
