import { namedError } from './code-error.ts'

/** A place that a trace names. */
export interface CodeFrame {
  function?: string
  file: string
  line: number
  column?: number
}

const mostCharacters = 65_536
const longestLine = 1000
const pythonHead = /^(?: {2}\+ Exception Group )?Traceback \(most recent call last\):$/m

/**
 * The places that the trace of an error names, in its order, as JavaScript (`at fn (demo.js:2:9)`) and Python (`File
 * "demo.py", line 2, in fn`) write them: not those of its causes and parts, nor what looks like one in its message.
 * `explanation` is its name and message, with which the trace begins. Of long traces the beginning is read.
 */
export function framesOf(trace: string, explanation: string): CodeFrame[] {
  const frames: CodeFrame[] = []
  let isOfPart = false
  for (const text of placesIn(trace, explanation).slice(0, mostCharacters).split('\n')) {
    if (text.length > longestLine) continue
    // Those of the first part stand for an error that has none, as one of `Promise.any`.
    if (frames.length > 0 && /^ {2}\[(?:cause|error)\]: /.test(text)) break
    if (/^ {2}\+-\+-/.test(text)) isOfPart = true
    if (pythonHead.test(text)) {
      // Python tells causes first.
      frames.length = 0
      isOfPart = false
    }
    const line = text.replace(/^ {2}\| /, '').trim()
    const frame = line.startsWith('at ') ? javascriptFrame(line.slice(3)) : pythonFrame(line)
    if (frame !== undefined && !isOfPart) frames.push(frame)
  }
  return frames
}

/** A trace without the message, which Python has once more at the end. */
function placesIn(trace: string, explanation: string): string {
  const rest = trace.startsWith(explanation) ? trace.slice(explanation.length) : trace
  if (rest.search(pythonHead) !== 1) return rest
  const end = rest.lastIndexOf(namedError(explanation).message)
  return end < 0 ? rest : rest.slice(0, end)
}

function javascriptFrame(text: string): CodeFrame | undefined {
  const open = text.endsWith(')') ? text.lastIndexOf(' (') : -1
  // What is evaluated has no file, and is where that is done: `eval (eval at fn (demo.js:2:1), <anonymous>:1:6)`.
  const evaluated = text.indexOf(' (eval at ')
  const isEvaluated = open > 0 && evaluated > 0
  const place =
    open < 0 ? text.replace(/^async /, '') : text.slice(open + 2, isEvaluated ? text.indexOf(')', open) : -1)
  const [, file, line, column] = /^(.+?):(?<!:\d*:)(\d{1,9})(?::(\d{1,9}))?$/.exec(place) ?? []
  if (file === undefined) return undefined
  return {
    ...(open > 0 && { function: text.slice(0, isEvaluated ? evaluated : open) }),
    file,
    line: Number(line),
    ...(column !== undefined && { column: Number(column) }),
  }
}

function pythonFrame(text: string): CodeFrame | undefined {
  const [, file, line, name] = /^File "(.*?)", line (\d{1,9})(?:, in (.*))?$/.exec(text) ?? []
  if (file === undefined) return undefined
  return { ...(name !== undefined && { function: name }), file, line: Number(line) }
}
