import { npmPackage, type Entry, type LittlePackage } from '@automation/testing/little-registry'

const far = '../../../../../../../../../../../..'

/** Packages of npm that try to reach beyond their set: to touch this file, or to bring in this folder. */
export function hostileNpm(probe: string, folder: string): Record<string, LittlePackage> {
  const touch = `require('fs').writeFileSync(${JSON.stringify(probe)}, 'x')`
  const scripts = Object.fromEntries(
    ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish', 'dependencies'].map((name) => [
      name,
      `node -e "${touch.replaceAll('"', '\\"')}"; touch ${probe}`,
    ]),
  )
  const bindings = `{"targets": [{"target_name": "x", "actions": [{"action_name": "x", "inputs": [], "outputs": ["x"], "action": ["touch", "${probe}"]}]}]}`
  return {
    scripts: npmPackage('module.exports = 1', { scripts }),
    builds: npmPackage('module.exports = 1', { gypfile: true }, [{ path: 'package/binding.gyp', text: bindings }]),
    links: npmPackage('module.exports = 2', {}, [
      { path: 'package/out', link: folder },
      { path: 'package/out/probe', text: 'x' },
      { path: 'package/secret.txt', link: '/etc/passwd' },
      { path: 'package/hard.txt', hardLink: '/etc/passwd' },
      { path: `package/${far}${probe}`, text: 'x' },
      { path: probe, text: 'x' },
    ]),
    bins: npmPackage('module.exports = 1', {
      bin: { [`${far}${probe}`]: 'index.js', npm: 'index.js', node: 'index.js' },
    }),
    settings: npmPackage('module.exports = 3', {}, [
      { path: 'package/.npmrc', text: 'registry=http://127.0.0.1:1/\nignore-scripts=false\n' },
    ]),
    draws: npmPackage('module.exports = 1', { dependencies: { drawn: `file:${folder}` } }),
    huge: npmPackage('module.exports = 4', {}, [{ path: 'package/noise', noise: 80 * 2 ** 20 }]),
    bomb: npmPackage('module.exports = 4', {}, [{ path: 'package/zeros', zeros: 500 * 2 ** 20 }]),
    tampered: { ...npmPackage('module.exports = 5'), isTampered: true },
    fs: npmPackage('module.exports = "of the package"'),
    svc: npmPackage('module.exports = "of the package"'),
  }
}

/** Packages of PyPI that try the same. */
export function hostilePypi(probe: string): Record<string, LittlePackage> {
  const touch = `open(${JSON.stringify(probe)}, "w").close()\n`
  const wheel = (...entries: Entry[]): LittlePackage => ({ version: '1.0.0', entries })
  return {
    climbs: wheel({ path: `${far}${probe}`, text: 'x' }),
    placed: wheel({ path: probe, text: 'x' }),
    schemes: wheel(
      { path: `schemes-1.0.0.data/data/${far}${probe}`, text: 'x' },
      { path: `schemes-1.0.0.data/scripts/${far}${probe}`, text: '#!python\n' },
    ),
    built: {
      version: '1.0.0',
      isSource: true,
      entries: [
        { path: 'built-1.0.0/setup.py', text: touch },
        { path: 'built-1.0.0/PKG-INFO', text: 'Metadata-Version: 2.1\nName: built\nVersion: 1.0.0\n' },
      ],
    },
    settings: wheel(
      { path: 'settings.py', text: 'answer = 3\n' },
      { path: 'pip.conf', text: '[global]\nindex-url = http://127.0.0.1:1/\n' },
      { path: 'settings-1.0.0.data/data/pip.conf', text: '[global]\nindex-url = http://127.0.0.1:1/\n' },
    ),
    starts: wheel(
      { path: 'starts.py', text: 'answer = 1\n' },
      { path: 'starts.pth', text: 'import os; os.environ["STARTED"] = "pth"\n' },
      { path: 'sitecustomize.py', text: 'import os; os.environ["STARTED"] = "sitecustomize"\n' },
      { path: 'usercustomize.py', text: 'import os; os.environ["STARTED"] = "usercustomize"\n' },
    ),
    linked: wheel({ path: 'linked.py', text: 'answer = 1\n' }, { path: 'linked.txt', link: '/etc/passwd' }),
    json: wheel({ path: 'json/__init__.py', text: 'whose = "of the package"\n' }),
    svc: wheel({ path: 'svc.py', text: 'whose = "of the package"\n' }),
    huge: wheel({ path: 'huge.bin', noise: 80 * 2 ** 20 }),
    bomb: wheel({ path: 'bomb.bin', zeros: 500 * 2 ** 20 }),
    tampered: { ...wheel({ path: 'tampered.py', text: '' }), isTampered: true },
  }
}
