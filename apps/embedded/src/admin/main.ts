// The admin command line. All else is imported once the compile cache is on.
import { enableCompileCache } from 'node:module'
import { compileCache } from '../compile-cache.ts'

enableCompileCache(compileCache)

const { adminProgram, fromClone } = await import('@automation/admin')
const { performOn } = await import('@automation/admin/perform')
const { openTarget } = await import('./target.ts')
await adminProgram(
  performOn(() => openTarget(process.env), fromClone),
  fromClone,
).parseAsync()
