import { join } from 'node:path'
import { TlsFolder, WireNetwork } from '@automation/rpc/wire'
import { addressesByPackage, ConfigurationError, Environment, type CalledService } from '@automation/service'
import { readSecret } from '../secret-file.ts'
import type { EnvironmentValues } from '../keys.ts'
import type { Target } from './target.ts'

/** Where the services are that an operator calls, each as host:port. */
export type OperatorAddresses = Partial<Record<CalledService, string>> & { catalog: string }

// Commands end before a certificate is replaced.
const silent = { info: () => undefined, warn: () => undefined }

/** Services that are called with INTERNAL_KEY: from the environment, else the one that the data folder keeps. */
export function openWireTarget(given: OperatorAddresses, values: EnvironmentValues, dataDir: string): Target {
  const env = new Environment(values)
  const internalKey = env.secret('INTERNAL_KEY') ?? readSecret(join(dataDir, 'internal-key'))
  const tlsFolder = env.text('INTERNAL_TLS_DIR')
  env.check()
  if (internalKey === undefined)
    throw new ConfigurationError([`INTERNAL_KEY is missing: the one that the process-catalog at ${given.catalog} has`])
  const tls = tlsFolder === undefined ? undefined : new TlsFolder(tlsFolder, { logger: silent })
  const network = new WireNetwork({
    tls,
    addresses: addressesByPackage(
      Object.fromEntries(Object.entries(given).map(([name, address]) => [name, [address]])),
    ),
    key: { internalKey },
    maxMessageBytes: 4 * 1024 * 1024,
  })
  return {
    client: (service) => network.client(service),
    close: () => {
      network.close()
      tls?.close()
      return Promise.resolve()
    },
  }
}
