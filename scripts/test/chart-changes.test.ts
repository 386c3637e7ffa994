import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { chart } from '../charts/render.ts'
import { chartChanges, withChanges } from '../release/chart-changes.ts'

const changelog = `# Changelog

## [Unreleased]

### Added
- The chart: \`pools\`, [of runners](docs/a.md#b).
- Something else.

## [1.1.0] - 2026-11-01

### Fixed
- The chart: what was wrong: all of it.

## [1.0.0] - 2026-10-01

### Added
- The chart: first.
`

test('a release of the chart has what its version brings, and what is unreleased where the version has no section yet', () => {
  expect(chartChanges(changelog, '1.1.0')).toEqual([{ kind: 'fixed', description: 'What was wrong: all of it.' }])
  expect(chartChanges(changelog, '1.2.0')).toEqual([{ kind: 'added', description: '`pools`, of runners.' }])
  expect(chartChanges('', '1.2.0')).toEqual([])
})

test('the file of the chart is the same but for the annotation that Artifact Hub reads', async () => {
  const file = await readFile(join(chart, 'Chart.yaml'), 'utf8')
  const changes = chartChanges(changelog, '1.1.0')
  const before = parse(file) as { annotations: Record<string, string> }
  const after = parse(withChanges(file, changes)) as typeof before
  const { 'artifacthub.io/changes': given, ...annotations } = after.annotations
  expect(parse(given!)).toEqual(changes)
  expect({ ...after, annotations }).toEqual(before)
  expect(before.annotations).toHaveProperty('artifacthub.io/license')
  expect(withChanges(file, [])).toBe(file)
})

test('the changelog of this repository tells of the chart in kinds that Artifact Hub knows', async () => {
  const changes = chartChanges(await readFile(join(chart, '../../CHANGELOG.md'), 'utf8'), 'unreleased')
  expect(changes.length).toBeGreaterThan(0)
  const known = ['added', 'changed', 'deprecated', 'removed', 'fixed', 'security']
  expect(changes.filter(({ kind, description }) => !known.includes(kind) || description.includes(']('))).toEqual([])
})
