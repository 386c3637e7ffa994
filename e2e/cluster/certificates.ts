import { rm } from 'node:fs/promises'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TestAuthority, writeTlsFolder } from '@automation/testing/test-authority'
import { must } from './commands.ts'

const secret = 'internal-tls'
const services = ['gateway', 'process-catalog', 'execution', 'scheduler', 'storage', 'sandbox', 'runner']

/** The certificate of all services and runners of a release, in a Secret of each namespace, of an authority of its own. */
export class Certificates {
  /** What `internalTls.secrets` of the chart names. */
  readonly secrets = Object.fromEntries(services.map((service) => [service, secret]))
  /** For an operator's commands: its files, as INTERNAL_TLS_DIR has them. */
  readonly folder = mkdtempSync(join(tmpdir(), 'automation-certificates-'))
  readonly #namespaces: readonly [string, ...string[]]
  readonly #authority = new TestAuthority()

  /** Services are in the first one. */
  constructor(namespaces: readonly [string, ...string[]]) {
    this.#namespaces = namespaces
  }

  /** A new one, in place of the one that is there. */
  async issue(): Promise<void> {
    // Commands reach a service by a forwarded port.
    const issued = this.#authority.issue(`DNS:*.${this.#namespaces[0]}.svc,DNS:localhost,IP:127.0.0.1`)
    writeTlsFolder(this.folder, issued, this.#authority.ca)
    const stringData = { 'ca.crt': this.#authority.ca, 'tls.crt': issued.cert, 'tls.key': issued.key }
    const made = { apiVersion: 'v1', kind: 'Secret', metadata: { name: secret }, stringData }
    for (const namespace of this.#namespaces)
      await must('kubectl', ['apply', '--namespace', namespace, '-f', '-'], JSON.stringify(made))
  }

  async remove(): Promise<void> {
    for (const namespace of this.#namespaces)
      await must('kubectl', ['delete', 'secret', secret, '--namespace', namespace])
    this.#authority.remove()
    await rm(this.folder, { recursive: true })
  }
}
