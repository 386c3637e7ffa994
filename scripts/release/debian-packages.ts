import { fileIn } from './layout.ts'

/** A component of CycloneDX. */
interface Component {
  type: 'library'
  name: string
  version: string
  purl: string
}

/** The packages of Debian that are installed in an image of a layout, on any of its platforms. */
export async function debianPackages(layout: string, digest: string): Promise<Component[]> {
  const [status, release] = await Promise.all(
    ['var/lib/dpkg/status', 'usr/lib/os-release'].map((path) => fileIn(layout, digest, path)),
  )
  const [, distro = ''] = /^VERSION_ID="?(\d+)"?$/m.exec(release![0] ?? '') ?? []
  const found = status!
    .flatMap((text) => text.split('\n\n'))
    .flatMap((entry) => {
      const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(entry)?.[1] ?? ''
      if (!field('Status').endsWith(' installed')) return []
      const [name, version] = [field('Package'), field('Version')]
      // Advisories of Debian are by the source, which is named where it is called otherwise.
      const [source] = field('Source').split(' ')
      const upstream = source ? `&upstream=${encodeURIComponent(source)}` : ''
      const of = `arch=${field('Architecture')}&distro=debian-${distro}${upstream}`
      return [
        {
          type: 'library' as const,
          name,
          version,
          purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${of}`,
        },
      ]
    })
  if (found.length === 0) throw new Error(`The image ${digest} names no packages of Debian`)
  return [...new Map(found.map((one) => [one.purl, one])).values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1))
}
