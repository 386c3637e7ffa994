import * as nodeModule from 'node:module'

/** What a TypeScript source is as JavaScript. Types become blanks, so that lines and columns hold. Throws with the fault. */
export function stripTypes(source: string): string {
  if (typeof nodeModule.stripTypeScriptTypes !== 'function')
    throw new Error('TypeScript sources want Node 22.13 or later; this is ' + process.version)
  return withoutWarning(() => nodeModule.stripTypeScriptTypes(source))
}

// Node calls the function experimental on stderr, once for a program.
function withoutWarning<T>(work: () => T): T {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return work()
  } catch (error) {
    const { message } = error as Error
    if (!message.includes('Return statement')) throw error
    throw new Error(`${message}: a TypeScript source has an exported function main in place of return`, {
      cause: error,
    })
  } finally {
    process.emitWarning = emitWarning
  }
}
