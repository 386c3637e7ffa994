import { defineConfig } from 'vitest/config'

/** The suite over the public interface; one system serves all files, E2E_SHAPE says which. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['suite/**/*.test.ts'],
    globalSetup: ['./suite/global-setup.ts'],
    pool: 'threads',
    isolate: false,
    maxWorkers: 2,
    maxConcurrency: 4,
    sequence: { concurrent: true },
    testTimeout: 60_000,
    hookTimeout: 90_000,
    teardownTimeout: 40_000,
  },
})
