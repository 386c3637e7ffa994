import { TeamService } from '@automation/contract/catalog/v1/team'
import { TlsFolder, WireNetwork, type TeamCells } from '@automation/rpc/wire'
import { addressesByPackage, ConfigurationError, Environment } from '@automation/service'
import { readOperatorAddresses, type OperatorAddresses } from './operator-addresses.ts'
import { operatorContext } from './operator-context.ts'
import type { OpenServices, Target } from './target.ts'

type EnvironmentValues = Record<string, string | undefined>

/** The system whose services the environment names, with their key. Throws ConfigurationError where it does not. */
export function openServicesOf(values: EnvironmentValues): Target {
  const env = new Environment(values)
  const { catalog, ...others } = readOperatorAddresses(env)
  if (catalog === undefined) env.fault('SERVICE_ADDRESSES', 'must name the process-catalog, as catalog=host:port')
  const consoleUrl = env.text('CONSOLE_URL', 'http://localhost:8083')
  const shown = {
    restUrl: env.text('PUBLIC_URL', 'http://localhost:8080'),
    consoleUrl: env.boolean('CONSOLE_ENABLED', true) ? consoleUrl : undefined,
    firstTeam: env.text('BOOTSTRAP_TEAM', 'demo'),
  }
  env.check()
  return { ...openWireTarget({ catalog: catalog ?? '', ...others }, values), shown }
}

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

/** Services that are called with INTERNAL_KEY: from the environment, else the one that is kept. */
export function openWireTarget(given: OperatorAddresses, values: EnvironmentValues, keptKey?: string): OpenServices {
  const env = new Environment(values)
  const internalKey = env.secret('INTERNAL_KEY') ?? keptKey
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
