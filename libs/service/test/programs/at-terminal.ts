import { runProgram } from '@automation/service'

// A program that logs while it starts and afterwards, and ends.
await runProgram({
  name: 'example',
  progress: 'Starting',
  readConfig: () => undefined,
  async start(_, { logger }) {
    logger.info('one')
    logger.info('two')
    logger.warn('look out')
    setTimeout(() => {
      logger.info('later')
      process.exit(0)
    }, 100)
    return { stop: () => Promise.resolve() }
  },
})
