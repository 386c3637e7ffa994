// Started in a pod that has the runner's image and these files, and nothing of what tests usually have.
import { registerHooks } from 'node:module'

const until = new URL('../until.ts', import.meta.url).href
registerHooks({
  resolve: (name, context, next) =>
    name === '@automation/testing' ? { url: until, shortCircuit: true } : next(name, context),
})
await import('./pod-attempts.ts')
