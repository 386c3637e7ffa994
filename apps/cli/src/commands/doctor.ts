import type { Command } from 'commander'
import { examples } from '../output/examples.ts'
import { exitCodes, ExitError, type Runtime } from '../runtime.ts'
import { version } from '../version.ts'
import { checkSystem, type Check } from '../doctor/check-system.ts'

const marks = { ok: ['green', 'ok  '], warning: ['yellow', 'warn'], fault: ['red', 'FAIL'] } as const

/** `pas doctor`. */
export function register(program: Command, runtime: Runtime): void {
  examples(
    program
      .command('doctor')
      .description(
        'Look for what may be wrong between this machine and the service: address, TLS, clock, readiness, versions, token and scopes, live streams through proxies. Ends with 1 where something is.',
      )
      .action(doctor),
    'pas doctor',
    'pas doctor --json',
  )

  async function doctor(): Promise<void> {
    const { out } = runtime
    const target = await runtime.target()
    if (!out.json)
      out.say(
        `pas ${version}, Node ${process.versions.node}; ${target.team} at ${target.url}${target.context ? `, context ${target.context}` : ''}`,
      )
    const checks: Check[] = []
    for await (const check of checkSystem(target, () => runtime.client())) {
      checks.push(check)
      const [style, mark] = marks[check.state]
      if (!out.json)
        out.data(
          `${out.style(style, mark)}  ${check.name.padEnd(10)} ${check.text}${check.remedy ? `\n      ${''.padEnd(10)} ${check.remedy}` : ''}`,
        )
    }
    if (out.json) out.data({ ...target, version, checks })
    if (checks.some(({ state }) => state === 'fault')) throw new ExitError(exitCodes.refused)
  }
}
