import { z } from '@hono/zod-openapi'
import { memberText } from '@automation/contract/json-text'
import { clearableText } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { withFaultsAt } from '../../rest/rest-api.ts'
import { type RunInput, runInput, runValues } from '../executions/input.ts'

export const scheduledProcessInput = z
  .object({
    cron: clearableText().openapi({
      description: "Five fields, or six with seconds first, read in the team's time zone; either this or dateTime",
    }),
    dateTime: clearableText().openapi({
      description: "RFC 3339; without an offset it is a time of the team's zone",
    }),
    allowConcurrentExecutions: z.boolean().nullish(),
    paused: z.boolean().nullish().openapi({ description: 'Whether it starts nothing until it is resumed' }),
    input: runInput.nullish().openapi({ description: 'What each of its runs gets' }),
  })
  .openapi('ScheduledProcessInput', {
    example: { cron: '0 9 * * MON-FRI', input: { parameters: samples.parameters, comment: 'Each morning' } },
  })

export type ScheduleInput = z.output<typeof scheduledProcessInput>

/**
 * What a schedule is made from. `body` is the text that the input was read from. Failure: invalid_input at
 * /input/parameters.
 */
export function scheduleValues(
  { cron, dateTime, allowConcurrentExecutions, paused, input }: ScheduleInput,
  body: string,
) {
  return {
    cron: cron ?? undefined,
    dateTime: dateTime == null ? undefined : { text: dateTime },
    allowConcurrentExecutions: allowConcurrentExecutions ?? false,
    paused: paused ?? false,
    input: runValues(input ?? NO_INPUT, { text: memberText(body, 'input') ?? '', pointer: '/input' }),
  }
}

/**
 * The changes of a JSON Merge Patch: values, and in the mask the names of those that were given; `null` clears, but counts
 * as absent where something is or is not.
 */
export function schedulePatch(patch: ScheduleInput, body: string) {
  const { allowConcurrentExecutions, paused } = patch
  const flags = { allowConcurrentExecutions: allowConcurrentExecutions ?? undefined, paused: paused ?? undefined }
  const paths = [...given({ ...patch, ...flags }, PATHS), ...(patch.input === undefined ? [] : givenInput(patch.input))]
  return { mask: { paths }, ...scheduleValues(patch, body) }
}

/** Runs work with a schedule's values; a fault in what its runs get is named within `input`. */
export function faultsAtInput<T>(work: Promise<T>): Promise<T> {
  return withFaultsAt(work, (path) =>
    /^\/(parameters|tag|comment|settings)(\/|$)/.test(path) ? `/input${path}` : path,
  )
}

const NO_INPUT: RunInput = { tag: null, comment: null }

const PATHS = {
  cron: 'cron',
  dateTime: 'date_time',
  allowConcurrentExecutions: 'allow_concurrent_executions',
  paused: 'paused',
} as const

const INPUT_PATHS = { tag: 'input.tag', parameters: 'input.parameters', comment: 'input.comment' } as const

const SETTING_PATHS = {
  agentPoolSlug: 'input.settings.agent_pool',
  callbackUrl: 'input.settings.callback_url',
  timeout: 'input.settings.timeout_ms',
  freshProcess: 'input.settings.fresh_process',
} as const

function givenInput(input: RunInput | null): string[] {
  const settings = input === null ? null : input.settings
  return [...given(input, INPUT_PATHS), ...(settings === undefined ? [] : given(settings, SETTING_PATHS))]
}

/** The paths of what a patch names; `null` instead of a patch names all. */
function given(patch: object | null, paths: Readonly<Record<string, string>>): string[] {
  const values = new Map<string, unknown>(Object.entries(patch ?? {}))
  const isGiven = (name: string) => patch === null || values.get(name) !== undefined
  return Object.entries(paths).flatMap(([name, path]) => (isGiven(name) ? path : []))
}
