// The admin command line. All else is imported once the compile cache is on.
import { enableCompileCache } from 'node:module'
import { compileCache } from '../compile-cache.ts'

enableCompileCache(compileCache)

const { adminProgram } = await import('./commands.ts')
const { perform } = await import('./perform.ts')
await adminProgram(perform).parseAsync()
