import { Language } from '@automation/contract/common/v1/language'
import type { RunnerUnderTest } from './runner-under-test.ts'
import type { Ended, RunOptions } from './scripted-replica.ts'

const python = (options: RunOptions): RunOptions => ({
  ...options,
  spec: { language: Language.PYTHON, ...options.spec },
})

/** Runs a Python source. */
export function run(under: RunnerUnderTest, source: string, options: RunOptions = {}): Promise<Ended> {
  return under.replica.run(source, python(options))
}

/** Assigns a Python run. */
export function hand(under: RunnerUnderTest, source: string, options: RunOptions = {}) {
  return under.replica.hand(source, python(options))
}
