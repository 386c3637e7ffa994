import { expect, test } from 'vitest'
import { faultsOf } from '../check/migrations.ts'

const releases = new Set(['1.4.0'])

test.each([
  'DROP TABLE runs',
  'ALTER TABLE runs DROP COLUMN old',
  'ALTER TABLE runs DROP old',
  'ALTER TABLE IF EXISTS ONLY runs DROP COLUMN IF EXISTS old, ADD COLUMN new text',
  'ALTER TABLE runs RENAME COLUMN old TO new',
  'ALTER TABLE runs RENAME TO executions',
  'ALTER TABLE runs ADD COLUMN team text NOT NULL',
  'ALTER TABLE runs ADD COLUMN a text DEFAULT 0, ADD COLUMN team text NOT NULL, ADD COLUMN b text DEFAULT 0',
  'ALTER TABLE runs ALTER COLUMN team TYPE uuid USING team::uuid',
  'ALTER TABLE runs ALTER team SET DATA TYPE uuid',
  'ALTER TABLE runs ALTER COLUMN team SET NOT NULL',
  'ALTER TABLE runs ADD CONSTRAINT positive CHECK (count > 0)',
  '/* first */ CREATE TABLE other (id integer);\n-- then\nalter table runs\n  drop column old;',
])('%s breaks the release before', (sql) => {
  expect(faultsOf(sql, releases)).toHaveLength(1)
})

test.each([
  'CREATE TABLE runs (id uuid PRIMARY KEY, team text NOT NULL)',
  'ALTER TABLE runs ADD COLUMN held boolean NOT NULL DEFAULT false, ADD COLUMN note text',
  "ALTER TABLE runs ADD COLUMN held text DEFAULT 'DROP TABLE' NOT NULL",
  'ALTER TABLE runs ADD COLUMN double integer GENERATED ALWAYS AS (1) STORED NOT NULL',
  'ALTER TABLE runs DROP CONSTRAINT positive, ALTER COLUMN team DROP NOT NULL, ALTER COLUMN team DROP DEFAULT',
  'ALTER TABLE runs ALTER COLUMN team SET DEFAULT 1',
  'ALTER INDEX old RENAME TO older; DROP INDEX older',
  "DO $$ BEGIN EXECUTE 'DROP TABLE runs'; END $$",
  'CREATE TABLE own (a text); ALTER TABLE own ADD CONSTRAINT some CHECK (true)',
  '-- DROP TABLE runs;\nCREATE INDEX i ON runs (team)',
  '-- unused since 1.4.0\nDROP TABLE runs',
])('%s leaves the release before working', (sql) => {
  expect(faultsOf(sql, releases)).toEqual([])
})

test('a release that there was not does not count', () => {
  expect(faultsOf('-- unused since 1.5.0\nDROP TABLE runs', releases)).toEqual([
    'names 1.5.0, which is no release in CHANGELOG.md',
  ])
})
