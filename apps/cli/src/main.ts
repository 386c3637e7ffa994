#!/usr/bin/env node
/** The command line `pas`. What is asked most often answers before anything else is loaded. */
// An older Node has no `enableCompileCache`, and would refuse a module that imports it by name.
import nodeModule from 'node:module'
import { isTooOld } from './is-too-old.ts'
import { version } from './version.ts'

const args = process.argv.slice(2)
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever reads it may have enough.
    if (error.code === 'EPIPE') return
    process.stderr.write(`error: The output can't be written: ${error.message}\n`)
    process.exitCode = 1
  })
  process.stdout.write(`${version}\n`)
} else if (isTooOld(process.versions.node)) {
  process.stderr.write(
    `error: pas needs Node 22.12 or later, and this is Node ${process.versions.node}. Install a newer one from https://nodejs.org, or put it first on PATH.\n`,
  )
  process.exitCode = 1
} else {
  nodeModule.enableCompileCache()
  await import('./run-program.ts').then(({ runProgram }) => runProgram(args, process))
}
