import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { schemasOfOthers } from '../charts/crds.ts'
import { chart, isThere, valuesFiles } from '../charts/render.ts'
import { program, type Outcome, type Step } from './steps.ts'

/** Lint by each helm that is there, and manifests against schemas; and in words what is missing for it. */
export function chartSteps(): { steps: Step[]; missing: string[] } {
  const helms = ['helm', 'helm3'].filter(isThere)
  const lints = helms.map((helm) =>
    program(
      helm,
      [helm, 'lint', chart, '--strict', '--quiet', ...valuesFiles.slice(0, 1).flatMap((file) => ['--values', file])],
      'mend the chart; `helm lint charts/process-automation` shows it alone',
    ),
  )
  const isChecked = helms.length > 0 && isThere('kubeconform')
  const missing = [
    ...(helms.length > 0 ? [] : ['helm is not on the PATH, so the chart was not checked']),
    ...(isChecked ? [] : ['kubeconform is not on the PATH, so its manifests were not checked']),
  ]
  return { steps: [...lints, ...(isChecked ? [schemas(helms[0]!)] : [])], missing }
}

/** KUBECONFORM_SCHEMAS names where schemas are, when not on the internet. */
function schemas(helm: string): Step {
  return {
    name: 'manifests',
    advice: 'mend what kubeconform names in the templates of the chart',
    run: async () => {
      const places = [process.env['KUBECONFORM_SCHEMAS'] ?? 'default', await schemasOfOthers()]
      const found = await Promise.all(valuesFiles.map((values) => conform(helm, values, places)))
      return { ok: found.every(({ ok }) => ok), output: found.map(({ output }) => output).join('') }
    },
  }
}

async function conform(helm: string, values: string, places: string[]): Promise<Outcome> {
  const template = spawn(helm, ['template', 'release', chart, '--values', values], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const options = places.flatMap((place) => ['-schema-location', place])
  const check = spawn('kubeconform', ['-strict', ...options], { stdio: ['pipe', 'pipe', 'pipe'] })
  template.stdout.pipe(check.stdin)
  let output = ''
  for (const stream of [template.stderr, check.stdout, check.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const codes = await Promise.all([once(template, 'close'), once(check, 'close')])
  return { ok: codes.every(([code]) => code === 0), output }
}
