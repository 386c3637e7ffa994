import { Client, accessTokenOf } from '../client/client.ts'
import { Contract } from '../contract/contract.ts'

/** A client of a team by an API token of it; what the system answers is held against its own document. */
export async function clientOf(by: { host: string; team: string; apiToken: string }): Promise<Client> {
  const [accessToken, contract] = await Promise.all([
    accessTokenOf(by.host, by.team, by.apiToken),
    Contract.of(by.host),
  ])
  return new Client({ host: by.host, team: by.team, accessToken }, contract)
}
