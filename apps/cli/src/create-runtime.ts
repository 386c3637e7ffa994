import { chooseTarget, type Target } from './context/choose-target.ts'
import { readContexts } from './context/contexts.ts'
import { findProject } from './context/project-file.ts'
import { parseLossless } from './exact-json.ts'
import { exitCodes, ExitError, usageError } from './exit.ts'
import { createOutput } from './output/output.ts'
import type { Interrupts } from './interrupts.ts'
import type { Flags, Runtime } from './runtime.ts'
import { version } from './version.ts'

/** The runtime of a process; without `interrupts` nothing handles Ctrl-C. */
export function createRuntime(self: NodeJS.Process, json: boolean, interrupts?: Interrupts): Runtime {
  const { stdin, stdout, stderr, env } = self
  const cwd = self.cwd()
  const flags: Flags = { json, yes: false }
  const isTerminal = Boolean(stdin.isTTY && stderr.isTTY) && !json
  let project: ReturnType<typeof findProject> | undefined
  const findIt = () => (project ??= findProject(cwd))
  const target = async (): Promise<Target> =>
    chooseTarget({ flags, env, project: await findIt(), stored: await readContexts(env) })
  return {
    stdin,
    stdout,
    stderr,
    env,
    cwd,
    isTerminal,
    flags,
    out: createOutput({ stdout, stderr }, json),
    target,
    async client(choice = {}) {
      const [{ Client }, { authenticated }] = await Promise.all([
        import('@automation/client'),
        import('./context/authenticated.ts'),
      ])
      const chosen = choice.target ?? (await target())
      const token = choice.token ?? (await authenticated(env, chosen))
      return new Client({
        ...{ url: chosen.url, team: chosen.team, userAgent: `pas/${version}`, token },
        parseJson: parseLossless,
      })
    },
    project: findIt,
    async confirm(question) {
      if (flags.yes) return true
      if (!isTerminal) throw usageError(`${question} Answer by --yes.`)
      const { confirm } = await import('@clack/prompts')
      return answer(await confirm({ message: question, initialValue: false, output: stderr }))
    },
    async askSecret(question, instead) {
      if (!isTerminal) throw usageError(instead)
      const { password } = await import('@clack/prompts')
      return answer(await password({ message: question, output: stderr }))
    },
    onInterrupt: (handler) => interrupts?.handle(handler) ?? (() => undefined),
  }
}

/** What a prompt was answered with; Ctrl-C in it ends the program. */
function answer<T>(value: T): Exclude<T, symbol> {
  if (typeof value === 'symbol') throw new ExitError(exitCodes.interrupted)
  return value as Exclude<T, symbol>
}
