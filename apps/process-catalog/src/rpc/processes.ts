import { ProcessValuesSchema, type ProcessService } from '@automation/contract/catalog/v1/process'
import { unavailable } from '@automation/errors'
import { windowOf } from '@automation/database'
import { memberIn, type Handlers } from '@automation/rpc'
import { create } from '@bufbuild/protobuf'
import type { Catalog } from '../catalog.ts'
import type { Checks } from '../checks/checks.ts'
import { deleteProcess } from '../processes/deletion.ts'
import { languageName } from '../fields/language.ts'
import { maskedChange, newProcess, type NewProcess, type ProcessChange } from '../processes/process-values.ts'
import { formWarnings } from '../store/form-warnings.ts'
import { readLanguage } from '../store/owners.ts'
import { createProcess, getProcess, getProcessWithoutSource, listProcesses, updateProcess } from '../store/processes.ts'
import { readChange, warningsOf } from '../reading/source-reading.ts'

// Any beyond the second means that somebody has saved another source meanwhile.
const maxTries = 5

/** Processes. */
export function processHandlers(catalog: Catalog): Handlers<typeof ProcessService> {
  const { store, checks, config, effects } = catalog
  const { allowGit } = config.dependencies
  return {
    async createProcess({ values = create(ProcessValuesSchema) }, context) {
      const author = memberIn(context)
      const language = languageName(values.language)
      const made = await checks.withSchema(author.team, values.parametersSchema, () =>
        newProcess(values, { language, allowGit }),
      )
      const process = { ...made, language }
      const reading = await checks.read(author.team, process.language, process.columns.sourceCode)
      const passwordHash = await hashed(author.team, process, checks)
      const created = await createProcess(store, author, { ...process, reading }, passwordHash, config.dependencies)
      return { ...created, warnings: [...warningsOf(reading), ...(await formWarnings(store, created))] }
    },

    getProcess({ identifier, withoutSource }, context) {
      const read = withoutSource ? getProcessWithoutSource : getProcess
      return read(store, memberIn(context).team, identifier)
    },

    listProcesses({ page, keywords, tags }, context) {
      return listProcesses(store, memberIn(context).team, { keywords, tags }, windowOf(page))
    },

    async updateProcess({ identifier, values = create(ProcessValuesSchema), mask, ifMatch }, context) {
      const author = memberIn(context)
      const paths = mask?.paths ?? []
      const schema = paths.includes('parameters_schema') ? values.parametersSchema : undefined
      const owner = { process: identifier, module: '' }
      const manifests = paths.includes('dependencies')
        ? { language: await readLanguage(store, author.team, owner), allowGit }
        : undefined
      const change = await checks.withSchema(author.team, schema, () => maskedChange(values, paths, manifests))
      let read = await readChange(catalog, author.team, owner, change.columns.sourceCode)
      const warnings = warningsOf(read?.reading)
      const passwordHash = await hashed(author.team, change, checks)
      for (let tries = 0; tries < maxTries; tries += 1) {
        const written = { ...change, read, ifMatch }
        const outcome = await updateProcess(store, author, identifier, written, passwordHash, config.dependencies)
        if (!('unread' in outcome)) {
          if (change.columns.name !== undefined) await effects.tell(author.team, context)
          return { ...outcome, warnings: [...warnings, ...(await formWarnings(store, outcome))] }
        }
        const { language, source } = outcome.unread
        read = { source, reading: await checks.read(author.team, language, source) }
      }
      throw unavailable('Others change the source of the process at the same time, try again')
    },

    async deleteProcess({ identifier, ifMatch }, context) {
      await deleteProcess(catalog, identifier, ifMatch, context)
      return {}
    },
  }
}

/** The hash of the password where one is given: it takes long, so it is made before a transaction begins. */
async function hashed(team: string, { credentials }: NewProcess | ProcessChange, checks: Checks) {
  const { password } = credentials
  return password === undefined ? undefined : checks.hashPassword(team, password)
}
