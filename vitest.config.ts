import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What the isolation holds: attempts to leave them, attacks on limits, hostile packages, sandboxes: `npm run test:isolation`. */
export const isolation = 'apps/{runner,sandbox}/test/{isolation,limits}/**/*.test.ts'

/** Files that share a system stand together, at the front: it is there only for them. */
class SharersFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { sharers = [], others = [] } = Object.groupBy(await super.sort(files), ({ moduleId }) =>
      moduleId.includes('/apps/cli/test/project/') ? 'sharers' : 'others',
    )
    return [...sharers, ...others]
  }
}

export default defineConfig({
  test: {
    include: ['{libs,apps}/*/test/**/*.test.ts', '{scripts,bench,e2e}/test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, isolation],
    globalSetup: ['libs/testing/src/postgres-for-tests.ts', 'apps/cli/test/project/system-on-demand.ts'],
    pool: 'forks',
    // A worker runs file after file: importing all anew for each would be a quarter of the whole time.
    isolate: false,
    // For the programs that tests start, too.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compile') },
    // Tests wait for more than half of the time, so four on two cores; with more, those on a slow machine wait for each other.
    maxWorkers: 4,
    sequence: { sequencer: SharersFirst },
    // What hangs is found by these; nothing is to fail because the machine is slow.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
