interface CodeFrameLine {
  number: number
  text: string
  isFault: boolean
}

/** The lines of a source around one, from 1; none where the source has no such line. */
export function codeFrame(source: string, line: number, around = 3): CodeFrameLine[] {
  const lines = source.split('\n')
  if (line < 1 || line > lines.length) return []
  const first = Math.max(1, line - around)
  return lines
    .slice(first - 1, line + around)
    .map((text, index) => ({ number: first + index, text, isFault: first + index === line }))
}

interface Frame {
  file: string
  line: number
}

interface Ran {
  programmingLanguage: 'JAVASCRIPT' | 'PYTHON'
  modules: readonly { name: string }[]
}

/** The place of an error in the source that ran: the innermost that is of the process itself or of a module of it. */
export function faultPlace<F extends Frame>(frames: readonly F[], slug: string, { programmingLanguage, modules }: Ran) {
  const inner = programmingLanguage === 'PYTHON' ? frames.toReversed() : frames
  const known = new Set([slug, ...modules.map(({ name }) => name)])
  return inner.find(({ file }) => known.has(nameOf(file)))
}

/** The process or module that a file of a stack is. */
export const nameOf = (file: string): string => file.replace(/^.*\//, '').replace(/\.(?:[cm]?js|ts|py)$/, '')
