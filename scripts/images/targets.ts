import { readFile } from 'node:fs/promises'

/** The targets of the Dockerfile that are images; the others are steps on the way. */
export const targets = [
  'gateway',
  'process-catalog',
  'execution',
  'scheduler',
  'storage',
  'sandbox',
  'runner',
  'sandbox-daemon',
  'sandbox-base',
] as const

/** Names of all stages of a Dockerfile, in their order. */
export async function stagesOf(dockerfile: string): Promise<string[]> {
  const text = await readFile(dockerfile, 'utf8')
  return [...text.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, stage]) => stage!)
}
