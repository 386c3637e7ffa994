import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { once } from 'node:events'
import { text as readAll, buffer as readBytes } from 'node:stream/consumers'

const run = promisify(execFile)

/** The git repository around a project, as far as it is asked. Nothing here writes to it. */
export interface Repository {
  /** What the server is told as the origin: the same for all clones that have the same remote. */
  name: string
  /** Whether an origin is this repository, by its remote or, as it was before it had one, by its first commit. */
  isSelf(origin: string | undefined): Promise<boolean>
  /** The commit that is checked out; undefined before the first one. */
  head?: string
  /** The branch that is checked out; undefined where it is none. */
  branch?: string
  /** Paths, from the folder of pas.yaml, that git does not have as they are: changed or not added, or also ignored ones. */
  dirty(which?: 'andIgnored'): Promise<ReadonlySet<string>>
  /** Whether a commit is HEAD or one before it; false where it is not known here. */
  isInHistory(commit: string): Promise<boolean>
  /** The newest commit that HEAD and another one build on; undefined where there is none. */
  mergeBase(commit: string): Promise<string | undefined>
  /** Texts below a path (a file, or a folder that ends in `/`) in a commit, by path from the folder of pas.yaml. */
  filesAt(commit: string, path: string): Promise<ReadonlyMap<string, string>>
  /** All paths that a commit of HEAD's history has touched, with the folders that hold them (which end in `/`). */
  pathsEver(): Promise<ReadonlySet<string>>
  /** The commits before HEAD that have changed a path, the newest first. */
  commitsOf(path: string): Promise<readonly string[]>
}

const mostCommits = 200
/** From so many paths of a commit on, the whole project is read. */
const fewPaths = 5
const projectPaths = ['processes/', 'modules/', 'dependencies/', 'variables.yaml', 'pas.yaml']

/** Opens the repository that a folder is in; undefined where it is in none. */
export async function openRepository(folder: string): Promise<Repository | undefined> {
  const git = (...args: string[]) =>
    run('git', ['-C', folder, ...args], { maxBuffer: 1 << 30 }).then((done) => done.stdout)
  const tryGit = (...args: string[]) =>
    git(...args).then(
      (out) => out.trim(),
      (error: NodeJS.ErrnoException) => {
        // Git answers with an exit code; a missing git is told.
        if (typeof error.code === 'string') throw new Error('git was not found: install it', { cause: error })
        return undefined
      },
    )
  const [prefix, head, branch, address] = await Promise.all([
    tryGit('rev-parse', '--show-prefix'),
    tryGit('rev-parse', '--verify', '--quiet', 'HEAD'),
    tryGit('symbolic-ref', '--short', '--quiet', 'HEAD'),
    tryGit('config', '--get', 'remote.origin.url'),
  ])
  if (prefix === undefined) return undefined
  const remembered = <T>(work: (key: string) => Promise<T>) => {
    const kept = new Map<string, Promise<T>>()
    return (key: string): Promise<T> => {
      const found = kept.get(key) ?? work(key)
      kept.set(key, found)
      return found
    }
  }
  const files = remembered((key) => {
    const [commit, ...paths] = key.split('\n') as [string, ...string[]]
    return filesAt(folder, prefix, commit, paths)
  })
  const asked = new Map<string, number>()
  const everything = remembered(async () => {
    if (!head) return new Set<string>()
    const paths = (await git('log', '--format=', '--name-only', '-z', '--relative', 'HEAD', '--', '.')).split('\0')
    return new Set(paths.flatMap((path) => [path.trim(), ...foldersOf(path.trim())]))
  })
  // It goes through all of the history.
  const nameOfFirst = remembered(async (commit) => {
    const firsts = commit && (await tryGit('rev-list', '--max-parents=0', commit))
    return firsts ? `${ofFirst}${firsts.split('\n').at(-1)}` : `${ofFirst}empty`
  })
  const name = (address && repositoryName(address)) || (await nameOfFirst(head ?? ''))
  return {
    name,
    async isSelf(origin = '') {
      if (origin.toLowerCase() === name.toLowerCase()) return true
      return origin.startsWith(ofFirst) && origin === (await nameOfFirst(head ?? ''))
    },
    ...(head && { head }),
    ...(branch && { branch }),
    dirty: async (which) => {
      const ignored = which === 'andIgnored' ? ['--ignored'] : []
      const options = ['--porcelain=v1', '-z', '--untracked-files=all', ...ignored, '--no-renames']
      return changedPaths(await git('status', ...options, '--', ...projectPaths), prefix)
    },
    isInHistory: remembered(async (commit) =>
      !head || !isCommit(commit) ? false : (await tryGit('merge-base', '--is-ancestor', commit, 'HEAD')) !== undefined,
    ),
    mergeBase: remembered(async (commit) =>
      !head || !isCommit(commit) ? undefined : (await tryGit('merge-base', 'HEAD', commit)) || undefined,
    ),
    pathsEver: () => everything(''),
    async filesAt(commit, path) {
      const count = (asked.get(commit) ?? 0) + 1
      asked.set(commit, count)
      if (count < fewPaths) return files(`${commit}\n${path}`)
      // Two programs of git read all as fast as they read one.
      const all = await files([commit, ...projectPaths].join('\n'))
      return new Map([...all].filter(([each]) => each === path || (path.endsWith('/') && each.startsWith(path))))
    },
    commitsOf: remembered(async (path) => {
      if (!head) return []
      const out = await git('log', '--format=%H', `--max-count=${mostCommits}`, '--full-history', 'HEAD', '--', path)
      return out.split('\n').filter((line) => line !== '')
    }),
  }
}

const foldersOf = (path: string) => {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join('/')}/`)
}

// What the server says is an origin's commit was written by anybody: it must not be taken for an option of git.
const isCommit = (text: string) => /^[0-9a-f]{7,64}$/.test(text)

/** Begins the name that is of the first commit, which all clones share. */
const ofFirst = 'git:'

/**
 * An address of a repository without its way and credentials: clones over SSH and HTTPS have the same. Undefined for a folder of
 * this machine, which others do not know.
 */
export function repositoryName(address: string): string | undefined {
  const short = /^(?:[^@/]+@)?([^:/]+):(?!\/\/)(.+)$/.exec(address)
  const url = URL.parse(short ? `ssh://${short[1]}/${short[2]}` : address)
  if (!url?.host) return undefined
  const host = url.protocol === 'ssh:' ? url.hostname : url.host
  return `https://${host}${url.pathname}`.replace(/\/+$/, '').replace(/\.git$/, '')
}

function changedPaths(status: string, prefix: string): ReadonlySet<string> {
  return new Set(
    status
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => line.slice(3))
      .flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : [])),
  )
}

async function filesAt(
  folder: string,
  prefix: string,
  commit: string,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const listed = await run(
    'git',
    ['-C', folder, 'ls-tree', '-r', '-z', '--full-tree', commit, '--', ...paths.map((path) => `${prefix}${path}`)],
    {
      maxBuffer: 1 << 28,
    },
  )
  const entries = listed.stdout.split('\0').flatMap((line) => {
    const [, kind, id, name] = /^\d+ (\w+) ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []
    return kind === 'blob' ? [{ id: id!, name: name!.slice(prefix.length) }] : []
  })
  if (entries.length === 0) return new Map()
  const contents = await blobs(
    folder,
    entries.map(({ id }) => id),
  )
  return new Map(entries.map(({ name }, index) => [name, contents[index]!]))
}

/** Texts of blobs, by one git for all. */
async function blobs(folder: string, ids: readonly string[]): Promise<string[]> {
  const child = spawn('git', ['-C', folder, 'cat-file', '--batch'], { stdio: 'pipe' })
  const ended = once(child, 'close')
  child.stdin.end(ids.map((id) => `${id}\n`).join(''))
  const [bytes, words] = await Promise.all([readBytes(child.stdout), readAll(child.stderr), ended])
  const texts: string[] = []
  for (let at = 0; at < bytes.length;) {
    const line = bytes.indexOf(10, at)
    const size = Number(bytes.toString('utf8', at, line).split(' ')[2])
    if (Number.isNaN(size)) break
    texts.push(bytes.toString('utf8', line + 1, line + 1 + size))
    at = line + size + 2
  }
  if (texts.length < ids.length) throw new Error(`git cat-file has failed: ${words || 'an object is missing'}`)
  return texts
}
