// Starts each service as a process of its own. All else is imported once the compile cache is on.
import { enableCompileCache, flushCompileCache } from 'node:module'
import { compileCache } from '../compile-cache.ts'

enableCompileCache(compileCache)

const { readArguments } = await import('@automation/service')
const { settings } = await import('../usage.ts')
const about = 'Starts every service as a process of its own on this machine, with gRPC between them.'
readArguments({ command: 'npm run start:services --', about, settings })
const { runServices } = await import('./services.ts')
await runServices(process.env)
setTimeout(flushCompileCache, 3000).unref()
