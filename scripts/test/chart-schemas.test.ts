import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { kindsOfOthers, schemasOfOthers } from '../charts/crds.ts'
import { full, isThere, render } from '../charts/render.ts'

/**
 * What kubeconform says of the objects of other kinds than those of Kubernetes, as the chart makes them and as `spoil`
 * leaves them.
 */
async function judged(spoil = (text: string) => text): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'schemas-'))
  try {
    const objects = (await render(full)).filter(({ kind }) => kindsOfOthers.includes(kind))
    expect(new Set(objects.map(({ kind }) => kind))).toEqual(new Set(kindsOfOthers))
    const files = objects.map((_, index) => join(folder, `${index}.json`))
    for (const [index, object] of objects.entries()) await writeFile(files[index]!, spoil(JSON.stringify(object)))
    const options = ['-strict', '-output', 'json', '-schema-location', await schemasOfOthers(), ...files]
    const { stdout } = await promisify(execFile)('kubeconform', options).catch((error: { stdout: string }) => error)
    const { resources = [] } = JSON.parse(stdout) as { resources?: { kind: string; status: string }[] }
    return [...new Set(resources.map((each) => `${each.kind}: ${each.status}`))]
  } finally {
    await rm(folder, { recursive: true })
  }
}

// Without them there is nothing to try; `npm run check` says so.
describe.runIf(isThere('helm') && isThere('kubeconform'))('what the chart makes for programs of others', () => {
  test('is as these want it', async () => {
    expect(await judged()).toEqual([])
  })

  test.each([
    ['a Gateway without a name', 'HTTPRoute', '"name":"public"', '"nam":"public"'],
    ['a member in another place', 'ScaledObject', '"minReplicaCount"', '"minReplicas"'],
    ['an alert that waits for words', 'PrometheusRule', '"for":"5m"', '"for":"five minutes"'],
    ['a path that is none', 'ServiceMonitor', '"path":"/metrics"', '"paths":"/metrics"'],
    ['a backend without a port', 'GRPCRoute', '"port":8085', '"target":8085'],
  ])('is refused with %s', async (_, kind, good, bad) => {
    const said = await judged((text) => text.replaceAll(good, bad))
    expect(said).toEqual(expect.arrayContaining([`${kind}: statusInvalid`]))
  })
})
