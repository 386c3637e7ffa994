import type { Command } from 'commander'
import { examples } from '../output/examples.ts'
import { tableOf } from '../output/table.ts'
import type { Runtime } from '../runtime.ts'

/** `pas limits`. */
export function register(program: Command, runtime: Runtime): void {
  examples(
    program
      .command('limits')
      .description('Show what the team may have, how much is in use, and the pools of runners.')
      .action(async () => {
        const data = await (await runtime.client()).team.limits()
        const limits = tableOf(data.limits, [
          { title: 'limit', of: ({ name }) => name },
          { title: 'in use', of: ({ inUse }) => inUse },
          { title: 'allowed', of: ({ allowed }) => allowed },
        ])
        const pools = tableOf(data.agentPools, [
          { title: 'pool', of: ({ slug }) => slug },
          { title: 'free', of: ({ freeSlots }) => freeSlots },
          { title: 'slots', of: ({ slots }) => slots },
          { title: 'languages', of: ({ languages }) => languages.join(',') },
        ])
        runtime.out.data(data, { text: `${limits}\n\n${pools}` })
      }),
    'pas limits',
  )
}
