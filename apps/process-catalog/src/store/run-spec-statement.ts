import { inheritanceSql } from './revisions.ts'

// Each way to name a process and a version is a statement of its own, so that each has a plan with its own index.
const processConditions = { id: 'process.id = $2::uuid', slug: 'process.slug = $2' }

const versionConditions = {
  none: 'false',
  id: 'version.id = $3::uuid',
  name: `version.id = coalesce(
    (SELECT id FROM versions WHERE process_id = process.id AND tag = $3),
    (SELECT version_id FROM aliases WHERE process_id = process.id AND name = $3))`,
}

/** The prepared statement that reads a run's specification: $1 the team, $2 the process, $3 the version where one is named. */
export function runSpecStatement(process: keyof typeof processConditions, version: keyof typeof versionConditions) {
  return {
    name: `run_spec_${process}_${version}`,
    text: `
      SELECT revisions.revision, teams.zone_id AS "zoneId",
        process.id AS "processId", process.name AS "processName", process.slug AS "processSlug",
        process.webhook_enabled AS "webhookEnabled", process.webhook_username AS "webhookUsername",
        process.webhook_password_hash AS "webhookPasswordHash",
        version.id AS "versionId",
        CASE WHEN version.id IS NULL THEN process.language ELSE version.language END AS language,
        CASE WHEN version.id IS NULL THEN process.source_code ELSE version.source_code END AS "sourceCode",
        CASE WHEN NOT teams.params_schema_validation_enabled THEN NULL
             WHEN version.id IS NULL THEN process.parameters_schema
             ELSE version.parameters_schema END AS "enforcedSchema",
        manifest.set_key AS "setKey", manifest.installed AS "installedDependencies", manifest.digest AS "setDigest",
        CASE WHEN version.id IS NULL THEN process.awaited_dependencies END AS "awaitedDependencies",
        process.dependencies_error AS "dependenciesError",
        seen.*
      FROM revisions
      JOIN teams ON teams.slug = revisions.team
      LEFT JOIN processes process ON process.team = revisions.team AND ${processConditions[process]}
      LEFT JOIN versions version ON version.process_id = process.id AND ${versionConditions[version]}
      LEFT JOIN dependency_manifests manifest ON manifest.team = revisions.team AND manifest.language = process.language
        AND manifest.process_id IS NOT DISTINCT FROM (CASE WHEN process.dependencies_scoped_to_process THEN process.id END)
      CROSS JOIN LATERAL (${variables}) seen
      WHERE revisions.team = $1`,
  }
}

// A team's own variables come before those of its parents, and these in the order of their slugs.
const variables = `
  SELECT array_agg(id::text) AS "variableIds", array_agg(key::text) AS "variableKeys",
    array_agg(ciphertext) AS "variableCiphertexts", array_agg(key_id) AS "variableKeyIds",
    array_agg(is_sensitive) AS "variableSensitive"
  FROM (
    SELECT DISTINCT ON (key) * FROM variables
    WHERE team = $1 OR team IN (SELECT parent FROM ${inheritanceSql} WHERE child = $1)
    ORDER BY key, team <> $1, team
  ) first`
