import type { Command } from 'commander'

/** What plan and push have in common. */
export interface PushOptions {
  prune?: boolean
  overwrite?: string[]
  secrets?: boolean
}

/** Adds the options of plan and push. */
export function withPushOptions(command: Command): Command {
  return command
    .option('--prune', 'delete what was removed here and was made by this repository')
    .option(
      '--overwrite <slug>',
      'put the files in place of what others have made of this process; several times',
      several,
    )
    .option('--secrets', 'send secrets again, also where nothing else has changed')
}

const several = (value: string, before: string[] = []) => [...before, value]
