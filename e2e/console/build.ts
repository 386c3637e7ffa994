import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { repositoryRoot } from '../system/system.ts'

/**
 * Builds the console where its sources have changed since the last build. A start would do so beside what follows, and take
 * away the files of the former build from the pages that are open.
 */
export async function buildConsole(): Promise<void> {
  // What a test runner sets is not for it: of React it would take the form for development.
  const { PATH, HOME } = process.env
  const options = { cwd: repositoryRoot, env: { PATH, HOME } }
  await promisify(execFile)(process.execPath, ['apps/embedded/src/console/build.ts'], options)
}
