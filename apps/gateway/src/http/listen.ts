import type { AddressInfo, Server } from 'node:net'

/** Resolves with the port that a server listens on; 0 is for a free one. Throws where it can't listen. */
export function listen(server: Server, port: number, host: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}
