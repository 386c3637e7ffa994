import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { membersOfPython, membersOfTypeScript } from './documented-members.ts'
import { clientAt, installedIn, unique } from './installed.ts'

const pas = clientAt()
/** The variable that holds the slug of a process that fails. */
const failingKey = unique('FAILING').replaceAll('-', '_')

/** A file of the package, as it is installed. */
function typesFile(name: string): string {
  const from = createRequire(installedIn === undefined ? import.meta.url : join(installedIn, 'package.json'))
  return from.resolve(`@${installedIn === undefined ? 'automation' : 'process-automation'}/process-types/${name}`)
}

/** Names that are the team's or the caller's own are no members of types. */
const inJavaScript = `
const free = new Set(['env', 'context.parameters', 'context.request.headers', 'context.request.query'])
const walk = (value, path = '') => Object.keys(value).flatMap((key) => {
  const at = path + key
  const isObject = typeof value[key] === 'object' && value[key] !== null && !free.has(at)
  return [at, ...(isObject ? walk(value[key], at + '.') : [])]
})
const failure = async (call) => Object.keys(await call().then(() => ({}), (error) => ({ name: '', message: '', ...error })))
const fails = 'a process that there is not'
return {
  Service: walk(svc),
  module: Object.keys(await import('svc')).filter((name) => name !== 'default' && name !== 'module.exports'),
  StorageObject: Object.keys(await svc.storage.upload('walk.txt', 'text')),
  SignedUrl: Object.keys(await svc.storage.createSignedUrl('walk.txt')),
  ProcessError: [
    ...(await failure(() => svc.processes.runSync(svc.env.${failingKey}))),
    ...(await failure(() => svc.processes.runSync(fails))),
  ],
  StorageError: await failure(() => svc.storage.download(fails)),
}`

const inPython = `
import keyword, types
free = {"env", "context.parameters", "context.request.headers", "context.request.query"}

def names(value):
    if isinstance(value, dict):
        found = set(value)
        snakes = {"".join(f"_{c.lower()}" if c.isupper() else c for c in name) for name in found}
        for name in found | snakes:
            value[name], getattr(value, name)
        return found | snakes
    return {name for name in vars(value) if not name.startswith("_") and not keyword.iskeyword(name)}

def walk(value, path=""):
    for name in names(value):
        at = path + name
        inner = value[name] if isinstance(value, dict) else getattr(value, name)
        if isinstance(inner, type):
            # Their instances are looked at; those that annotations alone use are not there.
            yield at
            continue
        yield at
        if at not in free and not callable(inner) and (isinstance(inner, dict) or hasattr(inner, "__dict__")):
            yield from walk(inner, at + ".")

def failure(call, *arguments):
    try:
        call(*arguments)
    except Exception as error:
        return sorted(names(error))

return {
    "svc": sorted(walk(svc)),
    "StorageObject": sorted(names(svc.storage.upload("walk.txt", "text"))),
    "SignedUrl": sorted(names(svc.storage.create_signed_url("walk.txt"))),
    "ProcessError": failure(svc.processes.run_sync, svc.env.${failingKey}),
    "StorageError": failure(svc.storage.download, "a file that there is not"),
}`

/** What a run of a webhook and one of a schedule find, together. */
async function found(programmingLanguage: 'JAVASCRIPT' | 'PYTHON', sourceCode: string): Promise<Map<string, string[]>> {
  const { slug } = await pas.processes.create({
    ...{ name: unique('walk'), programmingLanguage, sourceCode, webhook: { enabled: true } },
  })
  const schedule = await pas.schedules.create(slug, { cron: '0 8 1 1 *', input: { comment: 'x' } })
  const body = new Uint8Array([255, 254])
  const called = await pas.webhooks.start(slug, { body, headers: { 'Content-Type': 'application/octet-stream' } })
  const fired = await pas.schedules.run(schedule.id)
  const results = await Promise.all(
    [called, pas.executions.run(fired.id)].map((run) => run.result<Record<string, string[]>>()),
  )
  const kinds = [...new Set(results.flatMap((result) => Object.keys(result)))]
  const all = (kind: string) => [...new Set(results.flatMap((result) => result[kind] ?? []))].toSorted()
  return new Map(kinds.map((kind) => [kind, all(kind)]))
}

test('svc.d.ts and svc.pyi say all that runs find, and nothing else', async () => {
  const failing = await pas.processes.create({ name: unique('failing'), sourceCode: "throw new Error('no')" })
  await pas.variables.create({ key: failingKey, value: failing.slug })
  const roots = ['StorageObject', 'SignedUrl', 'ProcessError', 'StorageError']

  const { module = [], ...inScript } = Object.fromEntries(await found('JAVASCRIPT', inJavaScript))
  const documented = membersOfTypeScript(typesFile('svc.d.ts'), ['Service', ...roots])
  for (const name of ['ProcessError', 'StorageError'])
    inScript[name] = inScript[name]!.filter((one) => one !== 'message')
  expect(inScript).toEqual(Object.fromEntries(documented))
  expect(module.toSorted()).toEqual(documented.get('Service')!.filter((path) => !path.includes('.')))

  const inStub = Object.fromEntries(await found('PYTHON', inPython))
  const stub = membersOfPython(typesFile('svc.pyi'), ['svc', ...roots])
  const own = (paths: string[]) => paths.filter((path) => !/^[A-Z]/.test(path))
  expect({ ...inStub, svc: own(inStub['svc']!) }).toEqual({ ...Object.fromEntries(stub), svc: own(stub.get('svc')!) })
  expect(stub.get('svc')).toEqual(expect.arrayContaining(inStub['svc']!))
}, 120_000)
