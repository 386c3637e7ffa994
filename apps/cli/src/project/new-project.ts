import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readText } from './checkout.ts'
import { newYaml } from './edit-yaml.ts'
import { writeEditorSchemas } from './editor-files.ts'

const ignored = ['.pas/', 'plan.json', 'variables.env', '*.pas-new', '*.remote']
const attributes = [
  '# Sources are kept byte by byte.',
  'processes/** -text',
  'modules/** -text',
  '# Marks of merges of both sides hold.',
  'merged.yaml merge=union',
]

/** Makes a folder a project: pas.yaml with these members, and what git and editors want to know. Fails where it is one. */
export async function writeNewProject(folder: string, members: Record<string, unknown>): Promise<void> {
  const text = newYaml(' yaml-language-server: $schema=schemas/pas.json', { layout: 1, ...members })
  await writeFile(join(folder, 'pas.yaml'), text, { flag: 'wx' })
  await addLines(join(folder, '.gitignore'), ignored)
  await addLines(join(folder, '.gitattributes'), attributes)
  await writeEditorSchemas(folder)
}

/** Adds lines to a file that does not have them. */
async function addLines(path: string, lines: readonly string[]): Promise<void> {
  const text = (await readText(path)) ?? ''
  const have = new Set(text.split('\n'))
  const missing = lines.filter((line) => !have.has(line))
  if (missing.length > 0)
    await appendFile(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`)
}
