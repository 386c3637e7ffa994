import type { Limit } from '@automation/contract/common/v1/limit'
import type { AgentPool } from '@automation/contract/execution/v1/execution'
import { z } from '@hono/zod-openapi'
import { int32, languageName, presentLanguage } from '../../rest/fields.ts'

const agentPoolRecord = z
  .object({
    slug: z.string(),
    languages: z.array(languageName()).openapi({ description: 'What its runners run' }),
    freeSlots: int32().openapi({ minimum: 0 }),
    slots: int32().openapi({ minimum: 0, description: 'Of runners that serve this team, or may' }),
  })
  .openapi('AgentPool')

const amount = () => z.int().openapi({ format: 'int64', minimum: 0 })

const limitRecord = z.object({ name: z.string(), allowed: amount(), inUse: amount().optional() }).openapi('Limit')

export const limitsRecord = z
  .object({
    headerPrefix: z.string().openapi({ description: 'What headers of the service begin with' }),
    agentPools: z.array(agentPoolRecord),
    limits: z.array(limitRecord),
  })
  .openapi('Limits', {
    example: {
      headerPrefix: 'Acme-',
      agentPools: [{ slug: 'default', languages: ['JAVASCRIPT', 'PYTHON'], freeSlots: 61, slots: 64 }],
      limits: [
        { name: 'running', allowed: 50, inUse: 3 },
        { name: 'stored', allowed: 53_687_091_200, inUse: 1_048_576 },
      ],
    },
  })

/** A pool as JSON. */
export function presentAgentPool({ slug, languages, freeSlots, slots }: AgentPool): z.input<typeof agentPoolRecord> {
  return { slug, languages: languages.map(presentLanguage), freeSlots, slots }
}

/** A limit as JSON. */
export function presentLimit({ name, allowed, inUse }: Limit): z.input<typeof limitRecord> {
  return { name, allowed: Number(allowed), inUse: inUse === undefined ? undefined : Number(inUse) }
}
