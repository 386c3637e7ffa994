import { startPostgres } from '@automation/postgres'

// A program that starts PostgreSQL and then does nothing, to be killed.
const silent = new Proxy({}, { get: () => () => undefined }) as never
const { tcpUrl } = await startPostgres({ dataDir: process.argv[2]!, logger: silent, durable: false })
console.log(tcpUrl)
setInterval(() => undefined, 1000)
