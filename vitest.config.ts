import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{libs,apps}/*/test/**/*.test.ts', '{scripts,bench,e2e}/test/**/*.test.ts'],
    globalSetup: ['libs/testing/src/postgres-for-tests.ts'],
    pool: 'forks',
    testTimeout: 15_000,
    hookTimeout: 30_000,
  },
})
