/** What of a machine decides which builds of a package it can use. */
export interface Machine {
  platform: string
  architecture: string
  /** Absent where it is another C library. */
  glibcVersion: string | undefined
}

/** Platform, architecture and C library of this process. */
export function thisMachine(): Machine {
  const { platform, arch: architecture } = process
  // Looking up names of the network would only take time; the types of Node do not know the switch.
  const report = Object.assign(process.report, { excludeNetwork: true })
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } }
  return { platform, architecture, glibcVersion: header.glibcVersionRuntime }
}

/** Names platform and C library, such as `linux-x64-glibc2.36`: what is built for one may not start on another. */
export function platformName({ platform, architecture, glibcVersion }: Machine): string {
  const name = `${platform}-${architecture}`
  if (platform !== 'linux') return name
  return glibcVersion === undefined ? `${name}-musl` : `${name}-glibc${glibcVersion}`
}
