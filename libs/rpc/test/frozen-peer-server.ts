import { served } from '@automation/rpc'
import { serve } from '@automation/rpc/wire'
import { ProbeService } from './probe/probe_pb.ts'

// A peer in a process of its own, so that it can be frozen. Prints its port, and a line when its caller is gone.
const quiet = { error() {}, warn() {}, info() {} }
const { port } = await serve(
  [
    served(ProbeService, {
      ask: () => ({}),
      look: () => ({}),
      put: () => ({}),
      async *count(_request, { signal }) {
        yield {}
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        console.log('gone')
      },
      async *talk() {},
      gather: () => ({}),
    }),
  ],
  {
    host: '127.0.0.1',
    port: 0,
    internalKey: process.argv[2]!,
    maxMessageBytes: 100_000,
    keepaliveMs: 200,
    logger: quiet,
  },
)
console.log(String(port)) // a number would have colours where FORCE_COLOR is set, as Nx does
