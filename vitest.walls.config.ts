import { defineConfig } from 'vitest/config'
import { walls } from './vitest.config.ts'

export default defineConfig({
  test: { include: [walls], pool: 'forks', testTimeout: 60_000, hookTimeout: 120_000 },
})
