import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate for names of this machine that is its own authority, and its key, in PEM; good for two days. Made by openssl. */
export function testCertificate(subjects = 'DNS:localhost,IP:127.0.0.1'): { cert: string; key: string } {
  const dir = mkdtempSync(join(tmpdir(), 'certificate-'))
  const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const names = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${subjects}`]
  try {
    execFileSync('openssl', [...kind, ...names, '-out', certFile, '-keyout', keyFile], { stdio: 'ignore' })
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  } finally {
    rmSync(dir, { recursive: true })
  }
}
