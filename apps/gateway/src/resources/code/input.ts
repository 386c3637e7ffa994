import { Language } from '@automation/contract/common/v1/language'
import { z } from '@hono/zod-openapi'
import { memberText } from '@automation/contract/json-text'
import { blankable, clearableText, jsonObject, map, text } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { executionSettingsInput, runValues } from '../executions/input.ts'

const longestName = 255

const options = z
  .object({
    language: z.enum(['javascript', 'python']).nullish(),
    parameters: jsonObject('the parameters').nullish(),
    comment: clearableText(),
    initiatedBy: clearableText()
      .refine((name) => (name ?? '').length <= longestName, `must have at most ${longestName} characters`)
      .refine((name) => !/\p{Cc}/u.test(name ?? ''), 'must have no control characters')
      .openapi({ maxLength: longestName, description: 'Recorded for audit' }),
    removeOnDone: z.boolean().nullish().openapi({
      description: 'Removes the process and its executions after the run, unless another call uses it',
    }),
    settings: blankable(executionSettingsInput),
    manifest: z
      .object({ dependencies: map(text()).nullish() })
      .openapi({ title: 'ProcessManifestInput' })
      .nullish()
      .openapi({ description: 'Packages of its own' }),
  })
  .openapi({ title: 'RunCodeOptions' })

export const runCodeInput = z.object({ code: text(), options: options.nullish() }).openapi({
  title: 'RunCodeInput',
  example: {
    code: 'return { hello: svc.context.parameters.name }',
    options: { language: 'javascript', parameters: samples.parameters },
  },
})

type Input = z.output<typeof runCodeInput>

/** The process that a code is run as. */
export function takenProcess({ code, options: given }: Input) {
  return {
    language: given?.language === 'python' ? Language.PYTHON : Language.JAVASCRIPT,
    sourceCode: code,
    dependencies: given?.manifest?.dependencies ?? {},
    removes: given?.removeOnDone ?? false,
  }
}

/** What its run is started with. `body` is the text that the input was read from. */
export function codeRunValues({ options: given }: Input, body: string) {
  const { parameters, comment, settings } = given ?? {}
  return runValues(
    { parameters, comment, settings, tag: undefined },
    { text: memberText(body, 'options') ?? '', pointer: '/options' },
  )
}

/** Where the caller has written what a neighbour calls by this pointer. */
export function pointerInCode(path: string): string {
  return path === '/sourceCode' ? '/code' : path.startsWith('/options') ? path : `/options${path}`
}
