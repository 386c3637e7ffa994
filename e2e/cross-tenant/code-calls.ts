import type { Kind } from './belongings.ts'

/** A call of `svc` with a word that may name what another team has. */
export interface CodeCall {
  /** As the function is called in JavaScript; `()` behind another form of what it does. */
  name: string
  /** What the word names; `key` is one of the datastore. */
  kind: Kind | 'key'
  /** As for an input of an operation. */
  answer: 'refused' | 'same'
  /** Source texts in which `word` is the word, and `own` a process of the caller's team. */
  javascript: string
  python: string
  /** The call that takes back what this one does. */
  undoneBy?: string
}

/** Every function of `svc` but those that import, which take literal names only. */
export const codeCalls: readonly CodeCall[] = [
  {
    ...call('storage.upload', 'objectName', 'same', 'svc.storage.upload(word, "of a stranger")'),
    undoneBy: 'storage.delete',
  },
  {
    ...call('storage.download', 'object', 'refused', 'svc.storage.download(word).decode()'),
    javascript: 'svc.storage.download(word).then((content) => content.toArray()).then(String)',
  },
  {
    ...call('storage.list', 'object', 'same', 'svc.storage.list(prefix=word)'),
    javascript: 'svc.storage.list({ prefix: word })',
  },
  call('storage.delete', 'object', 'refused', 'svc.storage.delete(word)'),
  call('storage.createSignedUrl', 'object', 'refused', 'svc.storage.createSignedUrl(word)'),
  call('datastore.get', 'key', 'same', 'svc.datastore.get(word)'),
  call('datastore.keys', 'key', 'same', 'svc.datastore.keys(word)'),
  {
    ...call('datastore.del', 'key', 'same', 'svc.datastore.del(word)'),
    python: 'getattr(svc.datastore, "del")(word)',
  },
  call('datastore.delete', 'key', 'same', 'svc.datastore.delete(word)'),
  {
    ...call('datastore.set', 'key', 'same', 'svc.datastore.set(word, "of a stranger")'),
    undoneBy: 'datastore.del',
  },
  call('processes.run', 'process', 'refused', 'svc.processes.run(word)'),
  call('processes.runSync', 'process', 'refused', 'svc.processes.runSync(word)'),
  {
    ...call('processes.run (tag)', 'pointer', 'refused', 'svc.processes.run(own, tag=word)'),
    javascript: 'svc.processes.run(own, { tag: word })',
  },
  {
    ...call('processes.runSync (tag)', 'pointer', 'refused', 'svc.processes.runSync(own, tag=word)'),
    javascript: 'svc.processes.runSync(own, { tag: word })',
  },
  { ...call('env', 'variableKey', 'same', 'svc.env.get(word)'), javascript: 'svc.env[word]' },
  {
    ...call('environment', 'variableKey', 'same', '__import__("os").environ.get(word)'),
    javascript: 'process.env[word]',
  },
]

/** Where both languages say it in the same words. */
function call(name: string, kind: CodeCall['kind'], answer: CodeCall['answer'], source: string): CodeCall {
  return { name, kind, answer, javascript: source, python: source }
}

/** A process that makes the call of the parameter `call` and tells what came of it, and one that lists the functions. */
export const callingSources = {
  JAVASCRIPT: {
    calls: `const { call, word, own } = svc.context.parameters
      const calls = { ${codeCalls.map(({ name, javascript }) => `'${name}': async () => ${javascript}`).join(',\n')} }
      return calls[call]().then((value) => ({ value: value ?? null }), ({ message, code }) => ({ message, code: code ?? null }))`,
    functions: `const found = []
      for (const [name, part] of Object.entries(Object.getOwnPropertyDescriptors(svc)).map(([name, { value }]) => [name, value])) {
        if (typeof part === 'function') found.push(name)
        if (typeof part === 'object' && part !== null && name !== 'env')
          for (const [inner, value] of Object.entries(part)) if (typeof value === 'function') found.push(name + '.' + inner)
      }
      return found`,
  },
  PYTHON: {
    calls: `p = svc.context.parameters
word, own = p.word, p.own
calls = { ${codeCalls.map(({ name, python }) => `'${name}': lambda: ${python}`).join(',\n')} }
try:
    return {"value": calls[p.call]()}
except Exception as error:
    return {"message": str(error), "code": getattr(error, "code", None)}`,
    functions: `found = []
for name, part in vars(svc).items():
    if name.startswith("_") or isinstance(part, type):
        continue
    if callable(part):
        found.append(name)
    elif name != "env":
        found += [name + "." + inner for inner, value in getattr(part, "__dict__", {}).items() if callable(value)]
return found`,
  },
}
