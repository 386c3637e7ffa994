import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Language } from '@automation/contract/common/v1/language'
import { CpuGroups } from '@automation/jail'
import { littleGitServer } from '@automation/testing/little-git-server'
import { littleRegistry, npmPackage, type Entry } from '@automation/testing/little-registry'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processesWith, sleepMark } from './processes.ts'
import { startRunner, startRunnerWith, type RunnerUnderTest } from './runner-under-test.ts'

const { JAVASCRIPT, PYTHON } = Language
const folder = mkdtempSync(join(tmpdir(), 'git-packages-test-'))
const token = 'registry-token-5678'
const asleep = sleepMark()
const groups = CpuGroups.find('installer')

const needed = { git: ['http-backend'], openssl: ['version'] }
const missing = Object.entries(needed).filter(([name, args]) => spawnSync(name, args).error !== undefined)
const title = 'packages from git'

const npmFiles = (manifest: object, more: Entry[] = []): Entry[] => [
  { path: 'package.json', text: JSON.stringify({ version: '1.0.0', main: 'index.js', ...manifest }) },
  ...more,
]
const haltsLauncher =
  "p=$PPID; while ! grep -q launcher.py /proc/$p/cmdline; do p=$(cut -d' ' -f4 /proc/$p/stat); done; kill -STOP $p"
/** Of a build system that is part of the package itself, so that nothing else is needed. */
const pythonFiles = (name: string, more: Entry[] = [], first = 'pass'): Entry[] => [
  { path: 'pyproject.toml', text: '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["build"]\n' },
  {
    path: 'build/own.py',
    text: `import os, urllib.request, zipfile
def build_wheel(directory, settings=None, metadata=None):
    ${first}
    name = "${name}-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(directory + "/" + name, "w") as wheel:
        info = "${name}-1.0.0.dist-info/"
        wheel.writestr("${name}.py", open("${name}.py").read())
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: ${name}\\nVersion: 1.0.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return name
`,
  },
  ...more,
]

describe.skipIf(missing.length > 0)(
  missing.length === 0 ? title : `${title} (not here: ${missing.map(([name]) => name).join()})`,
  () => {
    let git: Awaited<ReturnType<typeof littleGitServer>>
    let registry: Awaited<ReturnType<typeof littleRegistry>>
    let under: RunnerUnderTest
    /** Builds that wait for an answer. */
    const builds: { team: string; response: ServerResponse }[] = []
    const answering = createServer(({ url = '' }, response) => {
      builds.push({ team: url.slice(1), response })
    })

    beforeAll(async () => {
      registry = await littleRegistry({ good: npmPackage('exports.answer = () => 42') }, {})
      await new Promise<void>((resolve) => answering.listen(0, '127.0.0.1', resolve))
      const { port } = answering.address() as AddressInfo
      const asks = (team: string) => `urllib.request.urlopen("http://127.0.0.1:${port}/${team}")`
      const waits = (team: string) => pythonFiles('waits', [{ path: 'waits.py', text: '' }], asks(team))
      const answers = (name: string) => pythonFiles(name, [{ path: `${name}.py`, text: 'answer = 44\n' }])
      // What lies there when npm ends becomes part of the set.
      const harm = 'touch "$HOME/set/harmed"'
      const all = ['preinstall', 'install', 'postinstall', 'prepare', 'prepack', 'build']
      const scripts = Object.fromEntries(all.map((name) => [name, harm]))
      git = await littleGitServer({
        fromgit: npmFiles({ name: 'fromgit', dependencies: { good: '^1.0.0' } }, [
          { path: 'index.js', text: "exports.answer = () => require('good').answer() + 1" },
        ]),
        hostile: npmFiles({ name: 'hostile', scripts, devDependencies: { other: 'git+https://127.0.0.1:1/x.git' } }, [
          { path: 'index.js', text: 'module.exports = 1' },
          { path: '.npmrc', text: 'git=./harm.sh\nignore-scripts=false\nregistry=http://127.0.0.1:1/\n' },
          { path: 'harm.sh', text: `#!/bin/sh\n${harm}\n` },
          { path: '.gitmodules', text: '[submodule "x"]\n  path = x\n  url = ext::sh -c harm.sh\n' },
          { path: 'settings', link: '../../../npmrc' },
        ]),
        ...Object.fromEntries(['newest', 'tagged', 'alone'].map((name) => [name, answers(name)])),
        ...Object.fromEntries(['a', 'b', 'c', 'd'].map((team) => [`waits-${team}`, waits(team)])),
        sleeps: pythonFiles('sleeps', [], `os.system("sleep ${asleep}")`),
        halts: pythonFiles('halts', [], `os.system(r"""${haltsLauncher}; sleep ${asleep}""")`),
      })
      under = await startRunner(settings())
    })
    afterAll(async () => {
      await under?.stop()
      await git?.close()
      await registry?.close()
      answering.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const settings = (more: Record<string, string> = {}) => ({
      ...registry.settings,
      RUNNER_DEPENDENCIES_DIR: mkdtempSync(join(folder, 'sets-')),
      DEPENDENCIES_MAX_MB: '32',
      NPM_REGISTRY: registry.settings.NPM_REGISTRY.replace('://', `://${token}@`),
      NODE_EXTRA_CA_CERTS: git.certificate,
      ...more,
    })

    async function installed(runner: RunnerUnderTest, language: Language, packages: Record<string, string>) {
      const dependencies = { key: randomUUID(), packages, digest: '' }
      const run = await runner.replica.run('', { spec: { language, dependencies, isInstall: true } })
      return { dependencies, explanation: run.explanation }
    }

    async function runWith(language: Language, packages: Record<string, string>, source: string): Promise<unknown> {
      const { dependencies, explanation } = await installed(under, language, packages)
      expect(explanation).toBeUndefined()
      return (await under.replica.run(source, { spec: { language, dependencies } })).value
    }

    test('of npm are installed by the newest commit, a tag or a range of versions, with what they depend on', async () => {
      const packages = {
        newest: `git+${git.url}/fromgit.git`,
        tagged: `git+${git.url}/fromgit.git#v1.0.0`,
        ranged: `${git.url}/fromgit.git#semver:^1.0.0`,
      }
      const source = "return ['newest', 'tagged', 'ranged'].map((name) => require(name).answer())"
      expect(await runWith(JAVASCRIPT, packages, source)).toEqual([43, 43, 43])
    })

    test('of Python are built and installed by the newest commit, a tag or an https URL alone', async () => {
      const packages = {
        newest: `git+${git.url}/newest.git`,
        tagged: `git+${git.url}/tagged.git@v1.0.0`,
        alone: `${git.url}/alone.git`,
      }
      const source = 'import newest, tagged, alone\nreturn [newest.answer, tagged.answer, alone.answer]'
      expect(await runWith(PYTHON, packages, source)).toEqual([44, 44, 44])
    })

    test('of npm run nothing of theirs, read no settings of theirs, and take nothing of the jail along', async () => {
      const source = `const path = require.resolve('hostile')
        const { readdirSync } = require('fs')
        const own = require('path').dirname(path)
        return [require('hostile'), readdirSync(own), readdirSync(own + '/../..')]`
      const found = await runWith(JAVASCRIPT, { hostile: `git+${git.url}/hostile.git` }, source)
      const [value, own, root] = found as [number, string[], string[]]
      expect(value).toBe(1)
      expect(own).not.toContain('settings')
      expect(root).toEqual(['node_modules', 'package-lock.json', 'package.json'])
    })

    test.each([
      ['npm', JAVASCRIPT, '#nosuch'],
      ['pip', PYTHON, '@nosuch'],
    ] as const)('that are not there are refused with what %s says of them', async (_, language, reference) => {
      const packages = { fromgit: `git+${git.url}/fromgit.git${reference}` }
      expect((await installed(under, language, packages)).explanation).toMatch(/nosuch/)
    })

    test('are installed six at a time, two of a team', async () => {
      const teams = ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd']
      const ends = teams.map((team) => {
        const packages = { waits: `git+${git.url}/waits-${team}.git` }
        const dependencies = { key: randomUUID(), packages, digest: '' }
        return under.replica.run('return 1', { spec: { team, language: PYTHON, dependencies } })
      })
      await until(() => builds.length >= 6, { what: 'six builds' })
      // Takes as long as it would take a seventh one to begin.
      const other = await startRunner(settings())
      await installed(other, PYTHON, { newest: `git+${git.url}/newest.git` })
      const asked = []
      for (const each of teams) {
        await until(() => builds.length > 0, { what: `a build after ${each}` })
        expect(builds.length).toBeLessThanOrEqual(6)
        const ofTeams = Object.values(Object.groupBy(builds, ({ team }) => team))
        expect(Math.max(...ofTeams.map((those) => those?.length ?? 0))).toBeLessThanOrEqual(2)
        const { team, response } = builds.shift()!
        asked.push(team)
        response.end()
      }
      expect(asked.toSorted()).toEqual(teams)
      expect((await Promise.all(ends)).map(({ explanation }) => explanation)).toEqual(teams.map(() => undefined))
      await other.stop()
    })

    describe('whose build does not end', () => {
      const sleepers = () => processesWith(`sleep\0${asleep}`)
      const nobodySleeps = () => until(() => sleepers().length === 0, { what: 'the install has ended' })
      const weightOf = (pid: string, { prefixes: [prefix = ''] }: CpuGroups) => {
        const [group = ''] = /automation-installer-[\w-]+/.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8')) ?? []
        const files = ['cpu.weight', 'cpu.shares'].map((name) => join(dirname(prefix), group, name))
        return readFileSync(files.find(existsSync)!, 'latin1').trim()
      }
      const spec = (name = 'sleeps') => ({
        language: PYTHON,
        dependencies: { key: randomUUID(), packages: { [name]: `git+${git.url}/${name}.git` }, digest: '' },
      })

      const of = groups === undefined ? '' : 'get little of the processors, '
      test(`${of}are given up with the last run that waits for them, and installed anew for the next one`, async () => {
        const needing = { spec: spec() }
        const [first, second] = [under.replica.hand('', needing), under.replica.hand('', needing)]
        await until(() => sleepers().length > 0, { what: 'the install' })
        const installing = sleepers()
        if (groups !== undefined) expect(['25', '256']).toContain(weightOf(installing[0]!, groups))
        under.replica.kill(first.id)
        await until(async () => (await under.metric('runner_runs')) === 1)
        expect(sleepers()).toEqual(installing)
        under.replica.kill(second.id)
        await nobodySleeps()
        const third = under.replica.hand('', needing)
        await until(() => sleepers().length > 0, { what: 'a new install' })
        under.replica.kill(third.id)
        await nobodySleeps()
      })

      test.for([
        ['sleeps', 'namespaces'],
        ['halts', 'none'],
      ])('are given up after the time that an install has: %s at the level %s', async ([name, ISOLATION]) => {
        const limited = await startRunnerWith(
          { dependencies: { installMs: 12_000 } },
          settings({ ISOLATION: ISOLATION! }),
        )
        const run = await limited.replica.run('', { spec: spec(name) })
        expect(run.explanation).toMatch(
          /^InstallError: The installation took longer than 12 s\. Nothing of it is kept: ask for it again .*\n[^]*Cloning /,
        )
        expect(sleepers()).toEqual([])
        await limited.stop()
      })
    })

    /** What is said of packages that a runner with these settings refuses before it has asked for anything. */
    async function refused(more: Record<string, string>, packages: [Language, name: string][]): Promise<unknown[]> {
      const before = [git.asked.length, registry.asked.length]
      const runner = await startRunner(settings(more))
      const said = []
      for (const [language, name] of packages)
        said.push((await installed(runner, language, { [name]: `git+${git.url}/${name}.git` })).explanation)
      await runner.stop()
      expect([git.asked.length, registry.asked.length]).toEqual(before)
      return said
    }

    test('are refused where the system does not allow them', async () => {
      const both: [Language, string][] = [
        [JAVASCRIPT, 'fromgit'],
        [PYTHON, 'newest'],
      ]
      expect(await refused({ DEPENDENCIES_ALLOW_GIT: 'false' }, both)).toEqual([
        'InstallError: fromgit: this runner installs nothing from git (DEPENDENCIES_ALLOW_GIT)',
        'InstallError: newest: this runner installs nothing from git (DEPENDENCIES_ALLOW_GIT)',
      ])
    })

    test('of Python are refused where their build could read the password of the index', async () => {
      const index = registry.settings.PYPI_INDEX_URL.replace('//', '//somebody:secret-7654@')
      const [said] = await refused({ PYPI_INDEX_URL: index }, [[PYTHON, 'newest']])
      expect(said).toBe(
        'InstallError: newest: what pip builds from git could read the password of the index (PYPI_INDEX_URL)',
      )
    })
  },
)
