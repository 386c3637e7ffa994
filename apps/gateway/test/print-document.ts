import { startGateway } from './gateway-for-tests.ts'

// Prints the OpenAPI document as `npm run generate` commits it.

const gateway = await startGateway({ PUBLIC_URL: 'http://localhost:8080' })
const document: unknown = await (await gateway.request('GET', '/openapi.json')).json()
await gateway.stop()
console.log(JSON.stringify(document, undefined, 2))
