import { parentPort } from 'node:worker_threads'
import type { LanguageName } from '../language.ts'
import { readSource } from './read-source.ts'
import type { Reading } from './reading.ts'

export interface ReadingJob {
  language: LanguageName
  source: string
}

parentPort?.on('message', (job: ReadingJob) => parentPort?.postMessage(done(job)))
parentPort?.postMessage('ready')

function done({ language, source }: ReadingJob): { answer: Reading } | { error: string } {
  try {
    return { answer: readSource(language, source) }
  } catch (error) {
    return { error: String(error) }
  }
}
