import { styleText } from 'node:util'
import type { Writable } from 'node:stream'
import { severalLines } from './plain-text.ts'
import { tableOf, type Column } from './table.ts'

/** How a value is shown to people; with `--json` the value itself is printed. */
export interface Shown<T = unknown> {
  /** For a list: a row an item. */
  table?: readonly Column<T>[]
  /** What is said in place of a table without rows, on stderr. */
  empty?: string
  /** For all else. */
  text?: string
}

/** A line of a stream, as `--json` prints it. */
interface StreamLine {
  type: 'log' | 'status' | 'end' | 'change'
  [member: string]: unknown
}

type Style = Parameters<typeof styleText>[0]

/** Data goes to stdout, words go to stderr. */
export interface Output {
  /** Whether `--json` is given. */
  json: boolean
  /** Prints the answer of a command. */
  data<T>(value: T | readonly T[], shown?: Shown<T>): void
  /** Prints a line of a stream: JSON with `--json`, else `text` where there is one. */
  line(line: StreamLine, text?: string): void
  /** Says something to people. */
  say(words: string): void
  /** Answers a command that only does something: with `--json` what it has done, else words. */
  done(value: object, words: string): void
  /** Prints an error: words, or `{error: {…}}` on stderr with `--json`. */
  fail(error: { code: string; message: string; requestId?: string; errors?: readonly object[] }): void
  /** Whether the command runs to its end when nobody reads its output any more, as it also writes elsewhere. */
  goesOnUnread: boolean
  /** Colours a text where the stream shows colours (stdout unless said otherwise). */
  style(style: Style, text: string, stream?: 'stdout' | 'stderr'): string
}

/** Output to two streams. */
export function createOutput(streams: { stdout: Writable; stderr: Writable }, json: boolean): Output {
  const print = (text: string) => void streams.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  const say = (words: string) => void streams.stderr.write(`${words}\n`)
  const isTerminal = 'isTTY' in streams.stdout && streams.stdout.isTTY === true
  // A value may have been given by others; into a file or a pipe it goes as it is.
  const shownText = (text: string) => (isTerminal ? severalLines(text) : text)
  const out: Output = {
    json,
    goesOnUnread: false,
    data(value, shown = {}) {
      if (out.json) print(JSON.stringify(value, null, 2))
      else if (shown.text !== undefined) print(shown.text)
      else if (Array.isArray(value) && shown.table) {
        if (value.length === 0) say(shown.empty ?? 'There are none.')
        else print(tableOf(value, shown.table, (text) => out.style('bold', text)))
      } else if (value !== undefined)
        print(typeof value === 'string' ? shownText(value) : JSON.stringify(value, null, 2))
    },
    line(line, text) {
      if (out.json) print(JSON.stringify(line))
      else if (text !== undefined) print(text)
    },
    say,
    done(value, words) {
      if (out.json) out.data(value)
      else say(words)
    },
    fail({ code, message, requestId, errors = [] }) {
      if (out.json) say(JSON.stringify({ error: { code, message, requestId, errors } }))
      else say(`${out.style('red', 'error', 'stderr')}: ${severalLines(message)}`)
    },
    style: (style, text, stream = 'stdout') => styleText(style, text, { stream: streams[stream] }),
  }
  return out
}
