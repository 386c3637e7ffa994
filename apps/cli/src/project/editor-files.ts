import { processFileSchema, projectFileSchema, variablesFileSchema } from './file-schemas.ts'
import { writeCheckout } from './checkout.ts'

const schemas = {
  'schemas/pas.json': projectFileSchema,
  'schemas/process.json': processFileSchema,
  'schemas/variables.json': variablesFileSchema,
}

/** Writes the schemas of the project's own files, which editors complete and check by. Returns their paths. */
export async function writeEditorSchemas(folder: string): Promise<string[]> {
  for (const [path, schema] of Object.entries(schemas)) {
    const whole = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }
    await writeCheckout(folder, path, `${JSON.stringify(whole, null, 2)}\n`)
  }
  return Object.keys(schemas)
}
