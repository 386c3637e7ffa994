import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files with a system or a team of their own come first: they take longest, and wait as much as they work. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const hasOwn = ({ moduleId }: TestSpecification) =>
      /\b(startSystem|restartedSystem|ownTeam)\(/.test(readFileSync(moduleId, 'utf8'))
    const { own = [], others = [] } = Object.groupBy(await super.sort(files), (file) =>
      hasOwn(file) ? 'own' : 'others',
    )
    return [...own, ...others]
  }
}

/** The suite over the public interface; one system serves all files, E2E_SHAPE says which. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['suite/**/*.test.ts'],
    globalSetup: ['./suite/global-setup.ts'],
    pool: 'threads',
    isolate: false,
    maxWorkers: 3,
    maxConcurrency: 4,
    sequence: { concurrent: true, sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 150_000,
    teardownTimeout: 40_000,
  },
})
