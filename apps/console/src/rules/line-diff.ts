interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  text: string
  /** The number of the line on each side where it stands, from 1. */
  before?: number
  after?: number
}

/** Of the table of the longest common part; beyond it what differs in the middle is shown as one piece. */
const MOST_CELLS = 4_000_000

/** How lines became other lines, by their longest common part. */
export function lineDiff(before: readonly string[], after: readonly string[]): DiffLine[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail))
    tail += 1
  const same = (text: string, from: number, to: number): DiffLine => ({
    kind: 'same',
    text,
    before: from + 1,
    after: to + 1,
  })
  return [
    ...before.slice(0, head).map((text, at) => same(text, at, at)),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail), head),
    ...before
      .slice(before.length - tail)
      .map((text, at) => same(text, before.length - tail + at, after.length - tail + at)),
  ]
}

function middle(before: readonly string[], after: readonly string[], offset: number): DiffLine[] {
  const removed = (at: number): DiffLine => ({ kind: 'removed', text: before[at] ?? '', before: offset + at + 1 })
  const added = (at: number): DiffLine => ({ kind: 'added', text: after[at] ?? '', after: offset + at + 1 })
  const width = after.length + 1
  if ((before.length + 1) * width > MOST_CELLS)
    return [...before.map((_, at) => removed(at)), ...after.map((_, at) => added(at))]
  // How long the longest common part is from each pair of lines on.
  const longest = new Uint32Array((before.length + 1) * width)
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      longest[row * width + column] =
        before[row] === after[column]
          ? (longest[(row + 1) * width + column + 1] ?? 0) + 1
          : Math.max(longest[(row + 1) * width + column] ?? 0, longest[row * width + column + 1] ?? 0)
  const lines: DiffLine[] = []
  let row = 0
  let column = 0
  while (row < before.length || column < after.length) {
    if (row < before.length && column < after.length && before[row] === after[column]) {
      lines.push({ kind: 'same', text: before[row] ?? '', before: offset + row + 1, after: offset + column + 1 })
      row += 1
      column += 1
    } else if (
      column >= after.length ||
      (row < before.length && (longest[(row + 1) * width + column] ?? 0) >= (longest[row * width + column + 1] ?? 0))
    )
      lines.push(removed(row++))
    else lines.push(added(column++))
  }
  return lines
}

/** The lines around what differs, in pieces; what lies between them is the same on both sides. */
export function changedParts(lines: readonly DiffLine[], around = 3): DiffLine[][] {
  const parts: DiffLine[][] = []
  let part: DiffLine[] = []
  let end = -1
  lines.forEach((line, at) => {
    if (line.kind === 'same') return
    const first = Math.max(end, at - around, 0)
    if (first > end && part.length > 0) {
      parts.push(part)
      part = []
    }
    part.push(...lines.slice(first, at + around + 1))
    end = at + around + 1
  })
  if (part.length > 0) parts.push(part)
  return parts
}
