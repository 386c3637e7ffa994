import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { experimental, type ChannelCredentials, type ChannelOptions, type ServerCredentials } from '@grpc/grpc-js'
import { verifyPeer } from './peer-name.ts'

type Provider = experimental.CertificateProvider
type Listeners<U> = Set<(update: U) => void>

/** PEM: a certificate with those between it and its authority behind it, its private key, and the authorities that are trusted. */
interface TlsFiles {
  cert: Buffer
  key: Buffer
  ca: Buffer
}

interface TlsFolderOptions {
  /** How often the files are looked at; 5,000. */
  lookEveryMs?: number
  logger: { info(fields: object, text: string): void; warn(fields: object, text: string): void }
}

/**
 * Mutual TLS by the files `ca.crt`, `tls.crt` and `tls.key` of a folder. Each new connection, in and out, is made with
 * the files as they are by then: they may be replaced at any time. Files that do not fit each other are left alone, with
 * a warning, until they do.
 */
export class TlsFolder {
  readonly #folder: string
  readonly #options: TlsFolderOptions
  readonly #identities: Listeners<experimental.IdentityCertificateUpdate | null> = new Set()
  readonly #authorities: Listeners<experimental.CaCertificateUpdate | null> = new Set()
  readonly #timer: NodeJS.Timeout
  readonly #provider: Provider
  #files: TlsFiles
  #lastFault: string | undefined

  /** Throws what `readTlsFolder` throws. */
  constructor(folder: string, options: TlsFolderOptions) {
    this.#folder = folder
    this.#options = options
    this.#files = readTlsFolder(folder)
    this.#provider = this.#makeProvider()
    this.#timer = setInterval(() => this.#look(), options.lookEveryMs ?? 5000).unref()
  }

  /** For a server: callers must have a certificate of the authorities. */
  server(): ServerCredentials {
    return experimental.createCertificateProviderServerCredentials(this.#provider, this.#provider, true)
  }

  /** For a channel to `host:port`: the certificate there must name one of these hosts. */
  channel(address: string, names: readonly string[]): { credentials: ChannelCredentials; options: ChannelOptions } {
    const { verify, options } = verifyPeer(address, names)
    const { createCertificateProviderChannelCredentials: create } = experimental
    return { credentials: create(this.#provider, this.#provider, verify), options }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    try {
      const files = readTlsFolder(this.#folder)
      this.#lastFault = undefined
      if ((['cert', 'key', 'ca'] as const).every((name) => files[name].equals(this.#files[name]))) return
      this.#files = files
      for (const listener of this.#authorities) listener({ caCertificate: files.ca })
      for (const listener of this.#identities) listener(identityOf(files))
      const { validTo } = new X509Certificate(files.cert)
      this.#options.logger.info({ folder: this.#folder, validTo }, 'new connections use another certificate')
    } catch (error) {
      const fault = (error as Error).message
      if (fault !== this.#lastFault)
        this.#options.logger.warn({ folder: this.#folder, fault }, 'the former certificate is used further')
      this.#lastFault = fault
    }
  }

  /** A server listens to it before it can be told anything, so that is done in the next tick. */
  #makeProvider(): Provider {
    return {
      addCaCertificateListener: (listener) => {
        this.#authorities.add(listener)
        process.nextTick(listener, { caCertificate: this.#files.ca })
      },
      removeCaCertificateListener: (listener) => void this.#authorities.delete(listener),
      addIdentityCertificateListener: (listener) => {
        this.#identities.add(listener)
        process.nextTick(listener, identityOf(this.#files))
      },
      removeIdentityCertificateListener: (listener) => void this.#identities.delete(listener),
    }
  }
}

function identityOf({ cert, key }: TlsFiles): experimental.IdentityCertificateUpdate {
  return { certificate: cert, privateKey: key }
}

/** Reads the files of a folder. Throws an Error that says which is missing, or what does not fit; nothing of a key is in it. */
export function readTlsFolder(folder: string): TlsFiles {
  const [cert, key, ca] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => contentOf(folder, name)) as [
    Buffer,
    Buffer,
    Buffer,
  ]
  const [certificate] = [
    readable('tls.crt', () => new X509Certificate(cert)),
    readable('ca.crt', () => new X509Certificate(ca)),
  ]
  const privateKey = readable('tls.key', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) throw new Error('tls.key is not the key of tls.crt')
  return { cert, key, ca }
}

function contentOf(folder: string, name: string): Buffer {
  try {
    return readFileSync(join(folder, name))
  } catch (error) {
    throw new Error(`${name} can't be read: ${(error as NodeJS.ErrnoException).code}`, { cause: error })
  }
}

function readable<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch {
    // What OpenSSL says of a key is for nobody's log.
    throw new Error(`${name} is no PEM`)
  }
}
