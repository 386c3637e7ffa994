import { parentPort } from 'node:worker_threads'
import type { LanguageName } from '../fields/language.ts'
import { pythonFault, type PythonProgram } from './python-fault.ts'
import { readSource } from './read-source.ts'
import type { Reading } from './reading.ts'

export interface ReadingJob {
  language: LanguageName
  source: string
  python: PythonProgram
}

parentPort?.on('message', (job: ReadingJob) => parentPort?.postMessage(done(job)))
parentPort?.postMessage('ready')

function done({ language, source, python }: ReadingJob): { answer: Reading } | { error: string } {
  try {
    const reading = readSource(language, source)
    const fault = language === 'PYTHON' ? pythonFault(source, python) : reading.fault
    return { answer: { ...reading, ...(fault === 'unknown' ? { isUnchecked: true } : fault && { fault }) } }
  } catch (error) {
    return { error: String(error) }
  }
}
