import { defineConfig } from 'vitest/config'
import { isolation } from './vitest.config.ts'

export default defineConfig({
  test: { include: [isolation], pool: 'forks', testTimeout: 60_000, hookTimeout: 120_000 },
})
