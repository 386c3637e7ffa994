import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate and its key, in PEM. */
interface Issued {
  cert: string
  key: string
}

/** An authority of tests that issues certificates. Everything is made by openssl, and good for two days. */
export class TestAuthority {
  readonly #folder = mkdtempSync(join(tmpdir(), 'authority-'))
  readonly ca: string

  constructor() {
    this.#openssl(
      'req',
      '-x509',
      ...curve,
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=authority',
      '-keyout',
      'ca.key',
      '-out',
      'ca.crt',
    )
    this.ca = this.#read('ca.crt')
  }

  /** For a server and a client alike; `names` as `DNS:localhost,IP:127.0.0.1`. */
  issue(names = 'DNS:localhost,IP:127.0.0.1'): Issued {
    writeFileSync(join(this.#folder, 'names'), `subjectAltName=${names}\n`)
    this.#openssl('req', '-new', ...curve, '-nodes', '-subj', '/CN=service', '-keyout', 'one.key', '-out', 'one.csr')
    const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-extfile', 'names', '-days', '2']
    this.#openssl('x509', '-req', '-in', 'one.csr', ...by, '-out', 'one.crt')
    return { cert: this.#read('one.crt'), key: this.#read('one.key') }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }

  #read(name: string): string {
    return readFileSync(join(this.#folder, name), 'utf8')
  }

  #openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: this.#folder, stdio: 'ignore' })
  }
}

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']

/** Puts `ca.crt`, `tls.crt` and `tls.key` into a folder, each whole at any time, one after the other. */
export function writeTlsFolder(folder: string, { cert, key }: Issued, ca: string): void {
  for (const [name, text] of Object.entries({ 'tls.key': key, 'tls.crt': cert, 'ca.crt': ca })) {
    writeFileSync(join(folder, `${name}.new`), text)
    renameSync(join(folder, `${name}.new`), join(folder, name))
  }
}
