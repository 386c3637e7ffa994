import { rm } from 'node:fs/promises'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TestAuthority, writeTlsFolder } from '@automation/testing/test-authority'
import { must } from './commands.ts'

const secret = 'internal-tls'
const services = ['gateway', 'process-catalog', 'execution', 'scheduler', 'storage', 'sandbox', 'runner']

/** The certificate of all services of a release, in a Secret, of an authority of its own. */
export class Certificates {
  /** What `internalTls.secrets` of the chart names. */
  readonly secrets = Object.fromEntries(services.map((service) => [service, secret]))
  /** For an operator's commands: its files, as INTERNAL_TLS_DIR has them. */
  readonly folder = mkdtempSync(join(tmpdir(), 'automation-certificates-'))
  readonly #namespace: string
  readonly #authority = new TestAuthority()

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  /** A new one, in place of the one that is there. */
  async issue(): Promise<void> {
    // Commands reach a service by a forwarded port.
    const issued = this.#authority.issue(`DNS:*.${this.#namespace}.svc,DNS:localhost,IP:127.0.0.1`)
    writeTlsFolder(this.folder, issued, this.#authority.ca)
    const stringData = { 'ca.crt': this.#authority.ca, 'tls.crt': issued.cert, 'tls.key': issued.key }
    const made = { apiVersion: 'v1', kind: 'Secret', metadata: { name: secret }, stringData }
    await must('kubectl', ['apply', '--namespace', this.#namespace, '-f', '-'], JSON.stringify(made))
  }

  async remove(): Promise<void> {
    await must('kubectl', ['delete', 'secret', secret, '--namespace', this.#namespace])
    this.#authority.remove()
    await rm(this.folder, { recursive: true })
  }
}
