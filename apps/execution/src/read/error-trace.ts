import type { ErrorFrameSchema } from '@automation/contract/execution/v1/execution'
import type { MessageInitShape } from '@bufbuild/protobuf'

type Frame = MessageInitShape<typeof ErrorFrameSchema>

const mostFrames = 50
const mostCharacters = 65_536
const longestLine = 1000

/**
 * The places that a trace names, in its order, as JavaScript (`at fn (demo.js:2:9)`) and Python (`File "demo.py", line 2,
 * in fn`) write them. Reads each character once, and of long traces the beginning.
 */
export function framesOf(trace: string): Frame[] {
  const frames: Frame[] = []
  for (const text of trace.slice(0, mostCharacters).split('\n')) {
    if (frames.length === mostFrames) break
    if (text.length > longestLine) continue
    const line = text.trim()
    const frame = line.startsWith('at ') ? javascriptFrame(line.slice(3)) : pythonFrame(line)
    if (frame !== undefined) frames.push(frame)
  }
  return frames
}

function javascriptFrame(text: string): Frame | undefined {
  const open = text.endsWith(')') ? text.lastIndexOf(' (') : -1
  const place = open < 0 ? text : text.slice(open + 2, -1)
  const [last, beforeLast] = [place.lastIndexOf(':'), place.lastIndexOf(':', place.lastIndexOf(':') - 1)]
  const column = numberIn(place.slice(last + 1))
  const line = beforeLast > 0 ? numberIn(place.slice(beforeLast + 1, last)) : undefined
  if (line === undefined || column === undefined) return undefined
  return { ...(open > 0 && { function: text.slice(0, open) }), file: place.slice(0, beforeLast), line, column }
}

function pythonFrame(text: string): Frame | undefined {
  if (!text.startsWith('File "')) return undefined
  const end = text.indexOf('", line ')
  if (end < 0) return undefined
  const [number = '', ...names] = text.slice(end + '", line '.length).split(', in ')
  const line = numberIn(number)
  if (line === undefined) return undefined
  return { ...(names.length > 0 && { function: names.join(', in ') }), file: text.slice('File "'.length, end), line }
}

function numberIn(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
