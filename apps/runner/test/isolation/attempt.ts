import { constants, accessSync } from 'node:fs'
import { preludes } from './preludes.ts'
import type { EscapeProbe } from './escape-probe.ts'

export type Language = 'javascript' | 'python'

/**
 * Isolation levels at which an attempt is refused. `every level`; `namespaces`: not `pod`; `own`: where the network is the jail's
 * own; `slirp4netns`: where that helper leads it out, not pasta.
 */
export type Where = 'every level' | 'namespaces' | 'own' | 'slirp4netns'

/**
 * One way out of the isolation: the body of a function, which knows `probe` and the prelude of its language, and throws or returns
 * false when it is refused. Without isolation it gets through, which shows that it would find the thing.
 */
export interface Attempt {
  name: string
  refusedBy: Where
  /** Where there is no way in JavaScript, a Python program that its code starts makes the attempt. */
  javascript?: string
  python: string
  /** What the account of the test must be able to do for the control; undefined when anybody can. */
  control?: 'root' | 'none' | ((probe: EscapeProbe) => boolean)
}

/** What an attempt came to, and in which words. */
export interface Found {
  got: boolean
  how: string
}

type More = Pick<Attempt, 'control'>

/** One whose code differs by the language. */
export function inBoth(name: string, refusedBy: Where, javascript: string, python: string, more: More = {}): Attempt {
  return { name, refusedBy, javascript, python, ...more }
}

/** One by system calls. */
export function byCalls(name: string, refusedBy: Where, python: string, more: More = {}): Attempt {
  return { name, refusedBy, python, ...more }
}

/** One by a program of the machine. */
export function byProgram(name: string, refusedBy: Where, command: string, more: More = {}): Attempt {
  return inBoth(
    name,
    refusedBy,
    `shell(\`${command.replaceAll('{', '${')}\`)`,
    `shell(f"""${inPython(command)}""")`,
    more,
  )
}

/** One that looks for the mark of the probe in a file; the path is an expression in both languages, like `{probe.pid}`. */
export function reads(name: string, refusedBy: Where, path: string, more: More = {}): Attempt {
  return inBoth(name, refusedBy, `return read(${template(path)})`, `return read(f"${inPython(path)}")`, more)
}

/** One that opens a file, in the mode of both languages' `open`. */
export function opens(name: string, refusedBy: Where, mode: 'r' | 'r+' | 'a', path: string, more: More = {}): Attempt {
  const javascript = `fs.closeSync(fs.openSync(${template(path)}, ${JSON.stringify(mode)}))`
  return inBoth(name, refusedBy, javascript, `open(f"${inPython(path)}", "${mode}b", buffering=0).close()`, more)
}

/** One that lists a directory. */
export function lists(name: string, refusedBy: Where, path: string, more: More = {}): Attempt {
  const javascript = `return fs.readdirSync(${template(path)}).length > 0`
  return inBoth(name, refusedBy, javascript, `return len(os.listdir(f"${inPython(path)}")) > 0`, more)
}

const template = (path: string) => `\`${path.replaceAll('{', '${')}\``

function inPython(text: string): string {
  return text.replaceAll(/\{probe\.(\w+)\}/g, "{probe['$1']}")
}

export const whoMayWrite = (path: (probe: EscapeProbe) => string) => (probe: EscapeProbe) => {
  try {
    accessSync(path(probe), constants.W_OK)
    return true
  } catch {
    // Then only an isolation of another kind would be tested.
    return false
  }
}

/** Whether this account can show here that an attempt gets through where there is no isolation. */
export function hasControl({ control }: Attempt, probe: EscapeProbe): boolean {
  if (control === 'none') return false
  if (control === 'root') return process.getuid?.() === 0
  return control?.(probe) ?? true
}

/** Process code that makes attempts, one after the other, and returns what each came to by its name. */
export function sourceOf(language: Language, attempts: Attempt[], probe: unknown): string {
  if (language === 'python') return pythonSource(attempts, probe)
  const own = attempts.filter(({ javascript }) => javascript !== undefined)
  const functions = own.map(({ name, javascript }) => `[${JSON.stringify(name)}, async () => {${javascript}\n}]`)
  const program = `${pythonSource(
    attempts.filter(({ javascript }) => javascript === undefined),
    probe,
  )}\n`.replace(/return found\n$/, 'print(json.dumps(found))\n')
  return `
    const probe = ${JSON.stringify(probe)}
    ${preludes.javascript}
    return makeAll([${functions.join(',\n')}], ${JSON.stringify(program)})`
}

function pythonSource(attempts: Attempt[], probe: unknown): string {
  const functions = attempts.map(
    ({ python }, at) => `def attempt_${at}():\n${python.trim().replaceAll(/^/gm, '    ')}\n`,
  )
  const names = attempts.map(({ name }, at) => `    ${JSON.stringify(name)}: attempt_${at},\n`)
  return `import json
probe = json.loads(${JSON.stringify(JSON.stringify(probe))})
${preludes.python}
${functions.join('\n')}
found = make_all({
${names.join('')}})
return found`
}
