import { ProcessService } from '@automation/contract/catalog/v1/process'
import { Failure } from '@automation/errors'
import { asService, ownContext, type Neighbours } from '@automation/rpc'
import { banner } from './banner.ts'
import type { Bootstrap } from './bootstrap.ts'

/** Prints where the system is and how to use it. */
export async function welcome(
  neighbours: Pick<Neighbours, 'client'>,
  address: string,
  first: Bootstrap,
): Promise<void> {
  const helloExists = await exists(neighbours, first.team, 'hello')
  process.stdout.write(banner({ ...first, address, helloExists }))
}

async function exists(neighbours: Pick<Neighbours, 'client'>, team: string, slug: string): Promise<boolean> {
  const context = ownContext(asService('embedded', team), 10_000)
  try {
    await neighbours.client(ProcessService).getProcess({ identifier: slug }, context)
    return true
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') return false
    throw error
  }
}
