import { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { Failure, notFound } from '@automation/errors'
import { served, type ServedService } from '@automation/rpc'

/** Storage as runners see it for sets of packages, whose contents a test may change. */
export class ScriptedStorage {
  /** Packed sets by key and runtime. */
  readonly sets = new Map<string, Buffer>()
  /** The tokens of all calls. */
  readonly tokens: { call: 'upload' | 'download'; token: string | undefined }[] = []
  isAway = false
  /** Which key the token of an install names. */
  keyOf = (_token: string | undefined): string => ''

  get services(): ServedService[] {
    return [
      served(PackageSetService, {
        uploadSet: async (requests, { principal }) => {
          this.tokens.push({ call: 'upload', token: principal.token })
          this.#answer()
          let runtime = ''
          const chunks: Uint8Array[] = []
          for await (const { part } of requests)
            if (part.case === 'begin') runtime = part.value.runtime
            else if (part.case === 'chunk') chunks.push(part.value)
          this.sets.set(`${this.keyOf(principal.token)} ${runtime}`, Buffer.concat(chunks))
          return {}
        },
        keepSets: () => {
          throw new Failure('permission_denied', 'permission_denied', 'Not for runners')
        },
        downloadSet: ({ key, runtime }, { principal }) => this.#read(`${key} ${runtime}`, principal.token),
      }),
    ] as ServedService[]
  }

  async *#read(name: string, token: string | undefined) {
    this.tokens.push({ call: 'download', token })
    this.#answer()
    const content = this.sets.get(name)
    if (content === undefined) throw notFound('package_set')
    for (let at = 0; at < content.length; at += 1000) yield { chunk: content.subarray(at, at + 1000) }
  }

  #answer(): void {
    if (this.isAway) throw new Failure('unavailable', 'unavailable', 'Storage is away')
  }
}
