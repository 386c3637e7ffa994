import { Failure } from '@automation/errors'

/** Gives what `work` gives; where that fails, each faulty field is told at the pointer that the caller wrote it at. */
export async function toldAt<T>(work: Promise<T>, pointerFor: (path: string) => string): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof Failure) || error.fields.length === 0) throw error
    const { kind, code, message, cause, retryAfterS, executionId } = error
    throw new Failure(kind, code, message, {
      cause,
      fields: error.fields.map((fault) => ({ ...fault, path: pointerFor(fault.path) })),
      ...(retryAfterS !== undefined && { retryAfterS }),
      ...(executionId !== undefined && { executionId }),
    })
  }
}
