import { defineConfig } from 'vitest/config'

/** The packages for users, as they are installed, against one system: `npm run test:clients`. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    globalSetup: ['./global-setup.ts'],
    pool: 'threads',
    isolate: false,
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 150_000,
    teardownTimeout: 40_000,
  },
})
