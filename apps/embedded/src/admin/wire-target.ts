import { join } from 'node:path'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TlsFolder, WireNetwork, type TeamCells } from '@automation/rpc/wire'
import { addressesByPackage, ConfigurationError, Environment, type CalledService } from '@automation/service'
import { readSecret } from '../secret-file.ts'
import type { EnvironmentValues } from '../keys.ts'
import { operatorContext } from './operator-context.ts'
import type { Target } from './target.ts'

/** Where the services are that an operator calls, each as host:port; those of other cells as `execution@blue`. */
export type OperatorAddresses = Partial<Record<CalledService | `execution@${string}`, string>> & { catalog: string }

/** In which cells teams are; for a command they are read once, and when one has moved. */
function cellsOf(network: () => WireNetwork): TeamCells {
  let known: Promise<Map<string, string>> | undefined
  const read = async () => {
    const { teams } = await network().client(TeamService).listTeams({}, operatorContext())
    return new Map(teams.map(({ slug, cell }) => [slug, cell]))
  }
  return {
    of: async (team) => (await (known ??= read())).get(team) ?? '',
    look: async () => {
      await (known = read())
    },
  }
}

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
      Object.fromEntries(Object.entries(given).map(([name, address = '']) => [name, [address]])),
    ),
    key: { internalKey },
    maxMessageBytes: 64 * 1024 * 1024,
    ...(Object.keys(given).some((name) => name.includes('@')) && { cells: cellsOf(() => network) }),
  })
  return {
    client: (service) => network.client(service),
    inCells: (service) => network.inCells(service),
    close: () => {
      network.close()
      tls?.close()
      return Promise.resolve()
    },
  }
}
