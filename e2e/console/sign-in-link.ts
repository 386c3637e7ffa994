import type { System } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'

/** The link that signs in once, as a start prints it. */
export async function signInLink(system: System): Promise<URL> {
  const find = async () => /http:\/\/\S+\/sign-in#code=\S+/.exec(await system.output())?.[0]
  await waitUntil('the link of the console', async () => (await find()) !== undefined, { timeoutMs: 30_000 })
  return new URL((await find()) ?? '')
}
