interface Member {
  type: 'function' | 'property'
  /** What it takes and gives. */
  detail: string
  /** What it is for. */
  info?: string
  /** Which of the languages has it, where only one does. */
  only?: 'javascript' | 'python'
  members?: Record<string, Member>
}

const call = (detail: string, info: string, only?: Member['only']): Member => ({ type: 'function', detail, info, only })
const value = (detail: string, info?: string): Member => ({ type: 'property', detail, info })
const group = (detail: string, members: Record<string, Member>): Member => ({ type: 'property', detail, members })

const svc: Record<string, Member> = {
  context: group('what the caller gave', {
    parameters: value('object', 'The parameters of this run'),
    request: group('the webhook’s request', {
      headers: value('object'),
      rawBody: value('string'),
      query: value('object'),
      method: value('string'),
    }),
  }),
  env: value('object', 'The variables of the team'),
  execution: group('this run', { id: value('string') }),
  team: group('the team', { id: value('string') }),
  processes: group('other processes of the team', {
    run: call('(slug, {parameters?, tag?, comment?}) → id', 'Starts a process and gives the id of its execution'),
    runSync: call('(slug, {parameters?, tag?}) → value', 'Starts a process and waits for its value', 'javascript'),
    run_sync: call('(slug, parameters=…, tag=…) → value', 'Starts a process and waits for its value', 'python'),
  }),
  storage: group('the files of the team', {
    upload: call('(name, data, {contentType?})', 'Stores text, bytes or a stream'),
    download: call('(name)', 'Reads a file: a stream, in Python bytes'),
    list: call('({prefix?})', 'The files whose names begin so'),
    delete: call('(name)', 'Deletes a file'),
    createSignedUrl: call('(name, {expiresInSeconds?})', 'A link that anybody can use until it ends', 'javascript'),
    create_signed_url: call('(name, …)', 'A link that anybody can use until it ends', 'python'),
  }),
  datastore: group('values that runs share', {
    get: call('(key) → value', 'Reads a value; a missing key is null'),
    set: call('(key, value)', 'Stores a JSON value of up to 64 KiB'),
    del: call('(key)', 'Deletes a value'),
    keys: call('(prefix?) → list', 'The keys that begin so'),
  }),
}

/** The members of `svc` at a path, such as `['storage']`; none where there is no such path. */
export function svcMembers(path: readonly string[], language: 'javascript' | 'python') {
  let members: Record<string, Member> | undefined = svc
  for (const name of path) members = members?.[name]?.members
  return Object.entries(members ?? {})
    .filter(([, { only }]) => only === undefined || only === language)
    .map(([name, { type, detail, info }]) => ({ name, type, detail, info }))
}
