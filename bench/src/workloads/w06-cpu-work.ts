import type { Lab } from '../lab.ts'
import { load } from '../load/run.ts'
import { openOurs, oursAbout, type Language } from '../sides/ours.ts'
import { python } from '../sides/python.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import { warmNode, warmPython, type WarmChild } from '../sides/warm-child.ts'
import type { Sample } from '../statistics.ts'

const slots = 2
const result = '{"n":3524578}'

interface Work {
  language: Language
  /** Runs of which `slots` are on at a time; the fewer, the longer each takes. */
  runs: number
  sourceCode: string
  plain(): WarmChild
}

const fiboJs = 'function fibo(n) { return n < 2 ? n : fibo(n - 1) + fibo(n - 2) }'
const fiboPy = 'def fibo(n):\n    return n if n < 2 else fibo(n - 1) + fibo(n - 2)\n'

const javascript: Work = {
  language: 'JAVASCRIPT',
  runs: 40,
  sourceCode: `${fiboJs}\nreturn { n: fibo(33) }`,
  plain: () => warmNode(`(parameters) => { ${fiboJs}\nreturn { n: fibo(33) } }`),
}
const pythonWork: Work = {
  language: 'PYTHON',
  runs: 8,
  sourceCode: `${fiboPy}return {"n": fibo(33)}`,
  plain: () => warmPython(`${fiboPy}def main(parameters):\n    return {"n": fibo(33)}\n`, 'inPlace'),
}

const runsOf = (lab: Lab, { runs }: Work) => (lab.effort.smoke ? slots : runs)

/** Some runs at a time, for as long as every side is warmed up. */
async function warmUp(lab: Lab, burst: (count: number) => Promise<unknown>): Promise<void> {
  const until = performance.now() + lab.effort.warmUpS * 1000
  do await burst(2 * slots)
  while (performance.now() < until)
}

async function measureOurs(lab: Lab): Promise<Sample> {
  const ours = await openOurs(lab, { RUNNER_SLOTS: String(slots) })
  const seconds = async (work: Work) => {
    const { webhook } = await ours.process(`fibo-${work.language.toLowerCase()}`, work.sourceCode, work.language)
    const request = { url: webhook, body: '{}', expect: { status: 200, body: result } }
    const burst = (count: number) => load(request, { kind: 'burst', connections: slots, count })
    await warmUp(lab, burst)
    return (await burst(runsOf(lab, work))).seconds
  }
  try {
    return { javascriptS: await seconds(javascript), pythonS: await seconds(pythonWork) }
  } finally {
    await ours.close()
  }
}

/** As many warm processes as there are slots; each evaluates the same function afresh, one run after the other. */
async function measurePlain(lab: Lab): Promise<Sample> {
  const seconds = async (work: Work) => {
    const children = Array.from({ length: slots }, work.plain)
    const burst = async (count: number) => {
      let left = count
      const calls = children.map(async (child) => {
        while (left-- > 0) {
          const given = await child.run('{}')
          if (given !== result) throw new Error(`plain ${work.language} gave ${given}`)
        }
      })
      await Promise.all(calls)
    }
    try {
      await warmUp(lab, burst)
      const startedAt = performance.now()
      await burst(runsOf(lab, work))
      return (performance.now() - startedAt) / 1000
    } finally {
      for (const child of children) child.stop()
    }
  }
  return { javascriptS: await seconds(javascript), pythonS: await seconds(pythonWork) }
}

const efficiency = 0.95

export const w6: Workload = {
  id: 'W6',
  title: `fibo(33) with two slots: ${javascript.runs} runs in JavaScript, ${pythonWork.runs} in Python, two at a time`,
  shown: { metric: 'pythonS', unit: 's for all runs in Python', moreIsBetter: false },
  sides: [
    {
      name: 'plain',
      kind: 'floor',
      about: {
        get software() {
          return `two warm processes of node ${process.version} and of python ${python().version}, the function made anew for each run`
        },
        isolation: 'none',
        durability: 'none',
      },
      measure: measurePlain,
    },
    { name: 'ours', kind: 'ours', about: oursAbout, measure: measureOurs },
  ],
  goals: (median) => [
    goal(
      `JavaScript: efficiency at least ${efficiency} of plain node`,
      times(efficiency, median('ours', 'javascriptS')),
      '<=',
      median('plain', 'javascriptS'),
    ),
    goal(
      `Python: efficiency at least ${efficiency} of plain python3`,
      times(efficiency, median('ours', 'pythonS')),
      '<=',
      median('plain', 'pythonS'),
    ),
  ],
}
