import { Client, accessTokenOf } from '../client/client.ts'
import { Contract } from '../contract/contract.ts'

interface TeamToken {
  host: string
  team: string
  apiToken: string
}

/** A client of a team by an API token of it; what the system answers is held against its own document. */
export async function clientOf({ host, team, apiToken }: TeamToken, Kind = Client): Promise<Client> {
  const [accessToken, contract] = await Promise.all([accessTokenOf(host, team, apiToken), Contract.of(host)])
  return new Kind({ host, team, accessToken }, contract)
}
