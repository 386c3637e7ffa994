import type { Warning } from '@automation/contract/common/v1/warning'
import type { Timestamp } from '@bufbuild/protobuf/wkt'
import { z } from '@hono/zod-openapi'
import { moment } from './fields.ts'
import { presentTime } from './time.ts'

/** Who made a thing, and when; who changed it last, where somebody has. */
export const made = { createdBy: z.string(), createdAt: moment() }
export const changed = { updatedBy: z.string().optional(), updatedAt: moment().optional() }

interface Written {
  createdBy: string
  createdAt?: Timestamp | undefined
  updatedBy?: string | undefined
  updatedAt?: Timestamp | undefined
}

/** The fields of `made` and `changed`. */
export function presentWriters({ createdBy, createdAt, updatedBy, updatedAt }: Written) {
  return {
    createdBy,
    createdAt: presentTime(createdAt),
    updatedBy,
    updatedAt: updatedAt && presentTime(updatedAt),
  }
}

/** An object that stands in an answer as it was written, mostly RawJson. */
export const writtenObject = () => z.looseObject({}) as z.ZodType<object, object>

/** What is said of the records of lists. */
export const leavesOut = {
  description:
    'What takes more than 64 KiB is left out, and less where the page would be larger than 8 MiB; a single read has it',
}

/** Members that a list leaves out. */
export function absent(names: string[]): Record<string, undefined> {
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

export const warnings = z
  .array(z.object({ path: z.string(), message: z.string() }).openapi({ title: 'Warning' }))
  .optional()
  .openapi({
    description:
      'In answers of create and update: what is saved as it is and may not do what is meant, such as a fault of its syntax',
  })

/** Warnings where there are any. */
export function presentWarnings(given: readonly Pick<Warning, 'path' | 'message'>[]): z.input<typeof warnings> {
  return given.length === 0 ? undefined : given.map(({ path, message }) => ({ path, message }))
}
