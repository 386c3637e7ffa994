import type { Random } from '../system/random.ts'
import type { Attempt } from './attempt.ts'
import type { Scene } from './scene.ts'

/** Names and versions that no package has, for both languages and for each. */
const wrongNames = {
  both: ['', ' ', '.', '../x', '-g', '--registry', 'a/b', '@a', '@/b', 'a b', 'x'.repeat(215), 'é', 'a\nb', 'a@1'],
  JAVASCRIPT: ['favicon.ico', '_a', 'a[b]', '@A/b', '@a/_b', '@a/b/c'],
  PYTHON: ['a-', '@a/b', 'a[', 'a[]', 'a[b', 'a[b]]', 'a[b,]', 'a~b'],
}
const wrongVersions = {
  both: [
    '',
    ' ',
    './x',
    '/etc/passwd',
    'file:../x',
    'link:x',
    'http://example.com/x.tgz',
    'https://example.com/x.tgz',
    'git+ssh://git@example.com/a/b.git',
    'git://example.com/a/b.git',
    'ssh://example.com/a',
    'git+https://localhost/a/b.git',
    'git+https://127.0.0.1/a/b.git',
    'git+https://name:word@example.com/a/b.git',
    'git+https://example.com:8443/a/b.git',
    'git+https://example.com/../b.git',
    'git+https://example.com/a/b.git --more',
    '1.0.0 --flag',
    '1.0.0\n2.0.0',
    '1'.repeat(300),
    '>=1 && rm',
    '$(id)',
  ],
  JAVASCRIPT: ['workspace:*', 'npm:other@1', 'github:a/b', 'a/b', '>=', '<>1', '1..2', '^'.repeat(50), '01.0.0'],
  PYTHON: ['^1', '1 || 2', '@ file:///x', '==1.0; os_name', '>=', '==1.*.0', '-e .', '~'],
}

/** Packages that can't be staged, and installs of what is not staged: nothing is staged afterwards either. */
export function wrongPackages(scene: Scene, random: Random): Attempt {
  const language = random.pick(['JAVASCRIPT', 'PYTHON'] as const)
  const dependencies = random.pick<() => Record<string, string>>([
    () => ({ [random.pick([...wrongNames.both, ...wrongNames[language]])]: '1.0.0' }),
    () => ({ fine: '1.0.0', wrong: random.pick([...wrongVersions.both, ...wrongVersions[language]]) }),
    () => Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`package${n}`, '1.0.0'])),
  ])()
  const attempt = { fault: 'wrong packages', headers: scene.authorized, expect: 'refused', status: [400] } as const
  if (random.chance(0.2)) {
    const path = scene.path('/dependencies/{language}/install')
    return { ...attempt, method: random.pick(['POST', 'DELETE']), path }
  }
  return {
    ...attempt,
    method: 'PUT',
    path: scene.path(`/dependencies/${language}`),
    headers: { ...scene.authorized, 'content-type': 'application/json' },
    body: JSON.stringify({ dependencies }),
    paths: ['/dependencies'],
  }
}

/** Packages that may be staged, with names that reach for other things; nothing installs them. */
export function oddPackages(scene: Scene, random: Random): Attempt {
  const name = random.pick([
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'CON',
    'a.b',
    '0',
    'x'.repeat(214),
  ])
  const version = random.pick(['*', 'latest', '1', '1.0.0', '9'.repeat(16), 'git+https://example.com/a/b.git'])
  return {
    fault: 'odd packages',
    method: 'PUT',
    path: scene.path('/dependencies/{language}', 'playground'),
    headers: { ...scene.authorized, 'content-type': 'application/json' },
    body: `{"dependencies":{${JSON.stringify(name)}:${JSON.stringify(version)}}}`,
    expect: 'any',
    status: [200, 400],
  }
}
