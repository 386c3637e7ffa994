import { defineConfig } from 'vitest/config'
import { walls } from './vitest.config.ts'

export default defineConfig({
  test: { include: [walls], pool: 'forks', testTimeout: 15_000, hookTimeout: 30_000 },
})
