import { limits } from '../fields/limits.ts'
import { asOf } from './former-sources.ts'

// Each way to name a process and a version is a statement of its own, so that each has a plan with its own index.
const processes = {
  id: (table: string) => `${table} process ON process.team = revisions.team AND process.id = $2::uuid`,
  slug: (table: string) => `${table} process ON process.team = revisions.team AND process.slug = $2`,
  // Of a draft that no process is stored for, as far as runs have to do with it.
  draft: () => `LATERAL (
    SELECT process_id AS id, 'Draft'::text AS name, 'draft'::text AS slug, language, source_code, imports, parameters_schema,
      false AS webhook_enabled, NULL::text AS webhook_username, NULL::text AS webhook_password_hash,
      '{}'::text[] AS webhook_allowed_addresses,
      NULL::text AS awaited_dependencies, NULL::text AS dependencies_error, false AS dependencies_scoped_to_process
    FROM drafts WHERE drafts.team = revisions.team AND drafts.process_id = $2::uuid AND drafts.id = $4::uuid
  ) process ON true`,
}

const versionConditions = {
  none: 'false',
  id: 'version.id = $4::uuid',
  name: `version.id = coalesce(
    (SELECT id FROM versions WHERE process_id = process.id AND tag = $4),
    (SELECT version_id FROM aliases WHERE process_id = process.id AND name = $4))`,
}

/** How a version is named, if at all: by its id where it may only be a deleted one, or a draft. */
export type NamedVersion = keyof typeof versionConditions | 'deleted'

/**
 * The prepared statement that reads a run's specification: $1 the team, $2 the process, $3 the revision of the team whose
 * variables are known, $4 the version where one is named, and last, with `isAsOf`, the moment as of which sources that are nobody's
 * version are read.
 */
export function runSpecStatement(process: keyof typeof processes, version: NamedVersion, isAsOf = false) {
  const moment = version === 'none' ? '$4' : '$5'
  const at = (table: 'processes' | 'modules') => (isAsOf ? asOf(table, moment) : table)
  const isKept = version === 'deleted'
  const [versions, condition] = isKept
    ? ['kept_versions', versionConditions.id]
    : ['versions', versionConditions[version]]
  const packages = isKept ? packagesOfKept : packagesOfProcess
  // Of a process without the version that is named nothing is read.
  const source = version === 'none' ? 'process' : 'version'
  return {
    name: `run_spec_${process}_${version}${isAsOf ? '_as_of' : ''}`,
    text: `
      WITH RECURSIVE run AS (
        SELECT revisions.revision, teams.zone_id AS "zoneId",
          process.id AS "processId", process.name AS "processName", process.slug AS "processSlug",
          process.webhook_enabled AS "webhookEnabled", process.webhook_username AS "webhookUsername",
          process.webhook_password_hash AS "webhookPasswordHash",
          process.webhook_allowed_addresses AS "webhookAllowedAddresses",
          version.id AS "versionId",
          ${source}.language, ${source}.source_code AS "sourceCode", ${source}.imports,
          ${source}.parameters_schema AS "parametersSchema",
          teams.params_schema_validation_enabled AS "enforcesSchema",
          manifest.set_key AS "setKey", manifest.installed AS "installedDependencies", manifest.digest AS "setDigest",
          ${packages.awaited} AS "awaitedDependencies",
          ${packages.error} AS "dependenciesError"
        FROM revisions
        JOIN teams ON teams.slug = revisions.team
        LEFT JOIN ${processes[process](at('processes'))}
        LEFT JOIN ${versions} version ON version.process_id = process.id AND ${condition}
        LEFT JOIN dependency_manifests manifest ON manifest.team = revisions.team AND manifest.language = process.language
          AND manifest.process_id IS NOT DISTINCT FROM ${packages.owner}
        WHERE revisions.team = $1
      ),
      ${scope},
      ${seen(`"${source}Id"`)},
      ${needed(at('modules'))},
      ${unmet}
      SELECT run.*, ${variables}, ${linksAndSources}, ${unmetAndNames}
      FROM run`,
  }
}

// A version from before its process asked for more goes on with what is there; one that was published meanwhile waits, too.
// Packages may have other names than their imports: of those only what the version asks for tells, or an equal source.
const versionAwaits = `EXISTS (
    SELECT FROM json_array_elements_text(process.awaited_dependencies::json) AS awaited (package)
    WHERE NOT coalesce(manifest.installed::jsonb ? package, false)
      AND (package = ANY (version.imports)
        OR CASE WHEN process.dependencies_scoped_to_process THEN version.dependencies::jsonb ? package
                ELSE version.source_code = process.source_code END))`

const packagesOfProcess = {
  owner: '(CASE WHEN process.dependencies_scoped_to_process THEN process.id END)',
  awaited: `CASE WHEN version.id IS NULL OR ${versionAwaits} THEN process.awaited_dependencies END`,
  error: 'process.dependencies_error',
}

// A draft may have packages of its own, which its runs wait for.
const packagesOfKept = {
  owner: `coalesce(version.set_owner, ${packagesOfProcess.owner})`,
  awaited: `CASE WHEN version.set_owner IS NOT NULL AND manifest.id IS NOT NULL AND manifest.status IS DISTINCT FROM 'FAILED'
      AND manifest.installed IS DISTINCT FROM version.dependencies
    THEN (SELECT json_agg(name)::text FROM json_object_keys(version.dependencies::json) AS name) END`,
  error: `CASE WHEN version.set_owner IS NULL THEN process.dependencies_error
    WHEN manifest.status = 'FAILED' THEN manifest.error END`,
}

/** The teams whose modules and variables runs of $1 see. */
export const scope =
  'scope (team) AS (SELECT $1::text COLLATE "C" UNION ALL SELECT parent FROM inheritance WHERE child = $1)'

/** A team's own variables come before those of its parents, and these in the order of their slugs. */
export const ownFirst = 'team <> $1, team'

// Only where they are needed and not known: a team may have 10 MiB of them, and strangers may ask for what is not there.
const seen = (found: string) => `
  seen AS (
    SELECT DISTINCT ON (key) id, key, ciphertext, key_id, is_sensitive FROM variables
    WHERE team IN (SELECT team FROM scope)
      AND EXISTS (SELECT FROM run WHERE ${found} IS NOT NULL AND revision IS DISTINCT FROM $3)
    ORDER BY key, ${ownFirst}
  )`

// The client reads an array by its characters, and a text at once.
const variables = `
  (SELECT json_agg(json_build_array(id, key, key_id, is_sensitive, octet_length(ciphertext)) ORDER BY key)
   FROM seen) AS "sealedVariables",
  (SELECT CASE WHEN sum(octet_length(ciphertext)) <= ${limits.runVariablesBytes} AND count(*) <= ${limits.runVariableCount}
     THEN (SELECT encode(string_agg(ciphertext, '' ORDER BY key), 'base64') FROM seen) END FROM seen) AS ciphertexts`

/**
 * The module that a reference `wanted` of a source of this team means: of the source's own team, then of the run's, then of
 * the run's parents in the order of their slugs.
 */
export const foundModule = (owner: string, modules = 'modules') => `
  SELECT module.id AS module, version.id AS version, module.team,
    CASE WHEN version.id IS NULL THEN module.imports ELSE version.imports END AS imports
  FROM (
    SELECT id, team, imports FROM ${modules} found
    WHERE team IN (SELECT team FROM scope) AND language = (SELECT language FROM run)
      AND name = split_part(wanted, ' ', 1)
    ORDER BY team <> ${owner}, team <> $1, team LIMIT 1
  ) module
  LEFT JOIN versions version ON version.process_id = module.id AND version.id = coalesce(
    (SELECT id FROM versions WHERE process_id = module.id AND tag = split_part(wanted, ' ', 2)),
    (SELECT version_id FROM aliases WHERE process_id = module.id AND name = split_part(wanted, ' ', 2)),
    (SELECT id FROM versions WHERE process_id = module.id AND id::text = lower(split_part(wanted, ' ', 2))))
  WHERE split_part(wanted, ' ', 2) = '' OR version.id IS NOT NULL`

// Each way from a source to one that it imports, once: what imports each other in a circle ends, too.
const needed = (modules: string) => `
  needed AS (
    SELECT NULL::uuid AS importer, wanted AS reference, found.*
    FROM run CROSS JOIN unnest(run.imports) AS wanted CROSS JOIN LATERAL (${foundModule('$1', modules)}) found
    UNION
    SELECT coalesce(needed.version, needed.module), wanted, found.*
    FROM needed CROSS JOIN unnest(needed.imports) AS wanted CROSS JOIN LATERAL (${foundModule('needed.team', modules)}) found
  ),
  sources AS (
    SELECT target.id, module.name, version.id AS version, version.tag, module.team,
      coalesce(version.source_code, module.source_code) AS source
    FROM (SELECT DISTINCT coalesce(version, module) AS id, module, version FROM needed) target
    JOIN ${modules} module ON module.id = target.module
    LEFT JOIN versions version ON version.id = target.version
  )`

const linksAndSources = `
  (SELECT json_agg(json_build_object('importer', importer, 'reference', reference, 'id', coalesce(version, module))
     ORDER BY importer NULLS FIRST, reference) FROM needed) AS links,
  (SELECT count(*)::int FROM sources) AS "modulesCount",
  (SELECT CASE WHEN sum(octet_length(source)) <= ${limits.runModulesBytes} AND count(*) <= ${limits.runModuleCount}
     THEN json_agg(json_build_object('id', id, 'name', name, 'version', version, 'tag', tag, 'team', team, 'source', source)
       ORDER BY id)
   END FROM sources) AS modules`

// Versions of the module that the run would have, where only the version is not there.
const unmet = `
  unmet AS (
    SELECT wanted AS reference, nth, (
      SELECT coalesce(array_agg(name), '{}') FROM (
        SELECT name FROM (
          SELECT tag AS name, id FROM versions WHERE process_id = module.id AND tag IS NOT NULL
          UNION ALL SELECT name, id FROM aliases WHERE process_id = module.id
        ) named ORDER BY id DESC LIMIT ${limits.namedVersions}
      ) newest HAVING module.id IS NOT NULL
    ) AS versions
    FROM run CROSS JOIN unnest(run.imports) WITH ORDINALITY AS import (wanted, nth) LEFT JOIN LATERAL (
      SELECT id FROM modules
      WHERE split_part(wanted, ' ', 2) <> '' AND name = split_part(wanted, ' ', 1)
        AND team IN (SELECT team FROM scope) AND language = run.language
      ORDER BY team <> $1, team LIMIT 1
    ) module ON true
    WHERE NOT EXISTS (SELECT FROM needed WHERE importer IS NULL AND needed.reference = wanted)
  )`

const unmetAndNames = `
  (SELECT json_agg(json_build_object('reference', reference, 'versions', versions) ORDER BY nth) FROM unmet) AS unmet,
  (SELECT array_agg(name) FROM (
    SELECT DISTINCT name FROM modules
    WHERE EXISTS (SELECT FROM unmet) AND team IN (SELECT team FROM scope) AND language = (SELECT language FROM run)
    ORDER BY name LIMIT ${limits.comparedNames}
  ) named) AS "moduleNames"`
