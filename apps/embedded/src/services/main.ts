// Starts each service as a process of its own. All else is imported once the compile cache is on.
import { enableCompileCache, flushCompileCache } from 'node:module'
import { compileCache } from '../compile-cache.ts'

enableCompileCache(compileCache)

const { readArguments } = await import('../arguments.ts')
readArguments(
  'npm run start:services -- [--print-config]',
  'Starts every service as a process of its own on this machine, with gRPC between them.',
)
const { runServices } = await import('./services.ts')
await runServices(process.env)
setTimeout(flushCompileCache, 3000).unref()
