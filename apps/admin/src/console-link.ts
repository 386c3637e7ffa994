import { SessionService } from '@automation/contract/catalog/v1/session'
import type { Neighbours } from '@automation/rpc'
import { operatorContext } from './operator-context.ts'

/** For whom a link is, and what it lets them do; empty: the usual. */
interface LinkedPerson {
  team: string
  name?: string
  scopes?: string[]
}

/** An address that signs somebody in at the console, once, within 10 minutes. What is behind the # stays in the browser. */
export async function consoleLink(
  neighbours: Pick<Neighbours, 'client'>,
  consoleUrl: string,
  { team, name = '', scopes = [] }: LinkedPerson,
): Promise<string> {
  const request = { team, name, scopes }
  const { code } = await neighbours.client(SessionService).createSignInCode(request, operatorContext())
  return `${consoleUrl}/sign-in#code=${code}`
}
