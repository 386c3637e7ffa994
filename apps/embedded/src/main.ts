// Starts the whole system on this machine. All else is imported once the compile cache is on.
import { enableCompileCache, flushCompileCache } from 'node:module'
import { compileCache } from './compile-cache.ts'

enableCompileCache(compileCache)

const { readArguments } = await import('@automation/service')
const { settings } = await import('./usage.ts')
const about = 'Starts the whole system on this machine; all that it keeps is in DATA_DIR.'
readArguments({ command: 'npm start --', about, settings })
const { runEmbedded } = await import('./embedded.ts')
await runEmbedded(process.env)
setTimeout(flushCompileCache, 3000).unref()
