import { ProcessService } from '@automation/contract/catalog/v1/process'
import { Failure } from '@automation/errors'
import { asService, ownContext, type Neighbours } from '@automation/rpc'
import type { Check } from '@automation/service'
import { banner, type BannerFacts } from './banner.ts'

interface System extends Omit<BannerFacts, 'hiExists' | 'isolation'> {
  /** What the parts say of themselves. */
  checks: Check[]
}

/** Prints where the system is and how to use it. */
export async function welcome(neighbours: Pick<Neighbours, 'client'>, { checks, ...system }: System): Promise<void> {
  const isolation = checks.find(({ name }) => name === 'isolation')
  const hiExists = await exists(neighbours, system.team, 'hi')
  process.stdout.write(banner({ ...system, isolation, hiExists }))
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
