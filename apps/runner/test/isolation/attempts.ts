import type { Attempt } from './attempt.ts'
import { attemptsOnFiles } from './on-files.ts'
import { attemptsOnKernel } from './on-kernel.ts'
import { attemptsOnMachine } from './on-machine.ts'
import { attemptsOnNetwork } from './on-network.ts'
import { attemptsOnProcesses } from './on-processes.ts'
import { attemptsOnSharedThings } from './on-shared-things.ts'

/** All that a run tries by itself, with no other run beside it. */
export const attempts: Attempt[] = [
  ...attemptsOnFiles,
  ...attemptsOnProcesses,
  ...attemptsOnSharedThings,
  ...attemptsOnNetwork,
  ...attemptsOnKernel,
  ...attemptsOnMachine,
]
