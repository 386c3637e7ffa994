// Started in a pod that has the runner's image and these files, and nothing of what tests usually have: `in-pod.ts PROGRAM`.
import { registerHooks } from 'node:module'

const until = new URL('../until.ts', import.meta.url).href
registerHooks({
  resolve: (name, context, next) =>
    name === '@automation/testing' ? { url: until, shortCircuit: true } : next(name, context),
})
await import(new URL(process.argv[2] ?? '', new URL('../', import.meta.url)).href)
