import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An entry of an archive: a file's text, or a link. */
export interface Entry {
  path: string
  text?: string
  /** What a symbolic link leads to. */
  link?: string
  /** What a hard link leads to. */
  hardLink?: string
  /** Of a file of so many random bytes. */
  noise?: number
  /** Of a file of so many zeros, which are nothing when they are packed. */
  zeros?: number
}

export interface LittlePackage {
  version: string
  entries: Entry[]
  /** The registry promises another content than it gives. */
  isTampered?: boolean
  /** Of PyPI: there is no wheel, but what builds one. */
  isSource?: boolean
}

const pack = `
import base64, io, json, os, sys, tarfile, zipfile
def data_of(each):
    return each.get("text", "").encode() or os.urandom(each.get("noise", 0)) or bytes(each.get("zeros", 0))
def packed(kind, entries):
    out = io.BytesIO()
    if kind == "wheel":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in entries:
                if "link" in each:
                    info = zipfile.ZipInfo(each["path"])
                    info.external_attr = 0o120777 << 16
                    archive.writestr(info, each["link"])
                else:
                    archive.writestr(each["path"], data_of(each))
    else:
        with tarfile.open(fileobj=out, mode="w:gz") as archive:
            for each in entries:
                info = tarfile.TarInfo(each["path"])
                data = data_of(each)
                if "link" in each:
                    info.type, info.linkname = tarfile.SYMTYPE, each["link"]
                elif "hardLink" in each:
                    info.type, info.linkname = tarfile.LNKTYPE, each["hardLink"]
                else:
                    info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return base64.b64encode(out.getvalue()).decode()
json.dump([packed(*each) for each in json.load(sys.stdin)], sys.stdout)
`

type Archive = [path: string, kind: 'tar' | 'wheel', entries: Entry[]]

/** By their paths; all are made by one process. */
function packed(archives: Archive[]): Map<string, Buffer> {
  const input = JSON.stringify(archives.map(([, kind, entries]) => [kind, entries]))
  const made = JSON.parse(
    execFileSync('python3', ['-I', '-c', pack], { input, maxBuffer: 2 ** 28 }).toString(),
  ) as string[]
  return new Map(archives.map(([path], at) => [path, Buffer.from(made[at]!, 'base64')]))
}

/** A registry of npm and a PyPI index, on loopback if nothing else is said, with packages of a test's own making. */
export async function littleRegistry(
  npm: Record<string, LittlePackage>,
  pypi: Record<string, LittlePackage>,
  host = '127.0.0.1',
) {
  const asked: { path: string; authorization: string | undefined }[] = []
  const fileOf = (name: string, { version, isSource }: LittlePackage) =>
    isSource ? `${name}-${version}.tar.gz` : `${name}-${version}-py3-none-any.whl`
  const archives = packed([
    ...Object.entries(npm).map(([name, { entries }]): Archive => [`/npm/-/${name}.tgz`, 'tar', entries]),
    ...Object.entries(pypi).map(([name, each]): Archive => {
      const { version, entries, isSource } = each
      const path = `/files/${fileOf(name, each)}`
      return isSource ? [path, 'tar', entries] : [path, 'wheel', [...entries, ...metadata(name, version)]]
    }),
  ])
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    asked.push({ path, authorization: request.headers.authorization })
    little.onAsked()
    const archive = archives.get(path)
    if (archive !== undefined) return response.end(archive)
    const simple = /^\/simple\/([^/]+)\/$/.exec(path)?.[1]
    if (simple !== undefined && simple in pypi) {
      const file = fileOf(simple, pypi[simple]!)
      const promise = pypi[simple]!.isTampered ? `#sha256=${'0'.repeat(64)}` : ''
      return response.setHeader('Content-Type', 'text/html').end(`<a href="/files/${file}${promise}">${file}</a>`)
    }
    const name = /^\/npm\/(.+)$/.exec(path)?.[1]
    if (name !== undefined && name in npm) return response.end(JSON.stringify(packument(name, npm[name]!)))
    return response.writeHead(404).end('{"error":"not found"}')
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const url = `http://${host}:${(server.address() as AddressInfo).port}`

  function packument(name: string, { version, entries, isTampered }: LittlePackage) {
    const manifest = JSON.parse(entries.find(({ path }) => path === 'package/package.json')!.text!) as object
    const integrity = `sha512-${createHash('sha512')
      .update(isTampered ? 'another' : archives.get(`/npm/-/${name}.tgz`)!)
      .digest('base64')}`
    const dist = { tarball: `${url}/npm/-/${name}.tgz`, integrity }
    return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, name, version, dist } } }
  }
  const little = {
    asked,
    /** What is done at each request before it is answered. */
    onAsked: () => {},
    settings: { NPM_REGISTRY: `${url}/npm/`, PYPI_INDEX_URL: `${url}/simple` },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
  return little
}

function metadata(name: string, version: string): Entry[] {
  const folder = `${name}-${version}.dist-info`
  return [
    { path: `${folder}/METADATA`, text: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n` },
    {
      path: `${folder}/WHEEL`,
      text: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    },
    { path: `${folder}/RECORD`, text: '' },
  ]
}

/** An npm package of one file. */
export function npmPackage(code: string, manifest: object = {}, more: Entry[] = []): LittlePackage {
  const text = JSON.stringify({ name: 'x', version: '1.2.3', main: 'index.js', ...manifest })
  return {
    version: '1.2.3',
    entries: [{ path: 'package/package.json', text }, { path: 'package/index.js', text: code }, ...more],
  }
}
