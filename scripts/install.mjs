// Runs before every command (`prestart` and the like), on Node 20, before anything is installed: plain JavaScript
// without dependencies. Installs the packages when package-lock.json is not the one that they were installed from.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isInstalled } from './install/state.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

if (Number(process.versions.node.split('.')[0]) < 20) {
  stop(`Node 20 or later is needed, and this is ${process.version}.`, 'Install a newer one from https://nodejs.org.')
} else if (!isInstalled(root)) {
  const { install } = await import('./install/install.mjs')
  const { InstallFault } = await import('./install/faults.mjs')
  try {
    await install(root)
  } catch (error) {
    if (!(error instanceof InstallFault)) throw error
    stop(error.message, error.advice)
  }
}

function stop(what, advice) {
  const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  process.stderr.write(`\n${name}: ${what}\n${advice}\n`)
  process.exitCode = 1
}
