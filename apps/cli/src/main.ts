#!/usr/bin/env node
/** The command line `pas`. What is asked most often answers before anything else is loaded. */
import { enableCompileCache } from 'node:module'
import { version } from './version.ts'

enableCompileCache()
const args = process.argv.slice(2)
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) process.stdout.write(`${version}\n`)
else await import('./run-program.ts').then(({ runProgram }) => runProgram(args, process))
