import { Failure } from '@automation/errors'

/** The path of the field that a call was refused for, or the code of the failure. Throws where it was not refused. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  const thrown: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(thrown instanceof Failure)) throw new Error(`Expected a Failure, got ${String(thrown)}`, { cause: thrown })
  return thrown.fields[0]?.path ?? thrown.code
}
