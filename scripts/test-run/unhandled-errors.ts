import { writeFileSync } from 'node:fs'
import type { Reporter } from 'vitest/node'

/** An error that no test caught, so vitest ends with 1 though each test passed. */
export interface UnhandledError {
  /** The absolute path of the test file that ran when it came; another may have caused it. Undefined where none ran. */
  file?: string
  /** The test that ran then. */
  test?: string
  message: string
  stack: string
}

/** A reporter for vitest that writes to the file of UNHANDLED_ERRORS what its JSON reporter leaves out. */
export default class UnhandledErrors implements Reporter {
  onTestRunEnd(...[, errors]: Parameters<NonNullable<Reporter['onTestRunEnd']>>): void {
    const found = errors.map(({ name, message, stack = '', VITEST_TEST_PATH: file, VITEST_TEST_NAME: test }) => ({
      file: file as string | undefined,
      test: test as string | undefined,
      message: `${name ?? 'Error'}: ${message}`,
      stack,
    }))
    writeFileSync(process.env['UNHANDLED_ERRORS']!, JSON.stringify(found satisfies UnhandledError[]))
  }
}
