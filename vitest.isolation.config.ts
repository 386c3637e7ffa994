import { defineConfig } from 'vitest/config'
import { isolation } from './vitest.config.ts'

export default defineConfig({
  // Attacks wait for their ends as long as they compute.
  test: { include: [isolation], pool: 'forks', maxWorkers: 2, testTimeout: 120_000, hookTimeout: 120_000 },
})
