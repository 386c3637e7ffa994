import { defineConfig } from 'vitest/config'

/** The console in a real Chromium, over one system; files come one after the other, for there is one team to look at. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    globalSetup: ['./global-setup.ts'],
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    // A machine that does much else is slow, not wrong: only what never comes fails.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 45_000 } },
    teardownTimeout: 40_000,
  },
})
