import { openSync } from 'node:fs'
import { runPart } from '@automation/service'

// A part that does little, steered by its environment; says on stdout what happens to it.
await runPart({
  name: 'example',
  service: 'scheduler',
  readConfig: (env) => ({
    size: env.integer('SIZE', { default: 1, max: 10 }),
    word: env.secret('WORD', 'none'),
    startMs: env.integer('START_MS', { default: 0 }),
    stopMs: env.integer('STOP_MS', { default: 0 }),
    failure: env.text('FAILURE'),
  }),
  create: (config) => ({
    name: 'example',
    serves: [],
    async start() {
      await new Promise((resolve) => setTimeout(resolve, config.startMs))
      if (config.failure === 'start') throw new Error('no luck')
      while (config.failure === 'files') openSync('/dev/null', 'r')
      if (config.failure === 'later') setTimeout(() => void Promise.reject(new Error('nobody cares')), 10)
      if (config.failure === 'warnings') {
        process.emitWarning('of Node', 'ExampleWarning')
        setTimeout(() => undefined, -1)
        console.warn('of a library, %s', 'try 1')
      }
      console.log('started')
      // Keeps the process alive, as a server would.
      setInterval(() => undefined, 1000)
    },
    async stop(graceMs) {
      console.log(`stop within ${graceMs}`)
      await new Promise((resolve) => setTimeout(resolve, config.stopMs))
      console.log('stopped')
    },
    ready: async () => [{ name: 'example', ok: true }],
  }),
})
