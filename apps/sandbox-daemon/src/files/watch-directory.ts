import type { MessageInitShape } from '@bufbuild/protobuf'
import type { WatchDirectoryRequest, WatchDirectoryResponseSchema } from '@automation/contract/sandbox/v1/daemon'
import { ChangeType } from '@automation/contract/sandbox/v1/daemon'
import type { CallContext } from '@automation/rpc'
import { MessageQueue } from '@automation/rpc/message-queue'
import { pathFrom } from '../home.ts'
import { DirectoryTree } from './directory-tree.ts'
import { fileFault } from './file-faults.ts'

type Response = MessageInitShape<typeof WatchDirectoryResponseSchema>

/** So many changes wait for a slow reader; then they are replaced by one that says that more happened. */
const mostWaiting = 1000

/** The changes in a directory, until the caller goes or the directory does. */
export async function* watchDirectory(
  { path, recursive }: WatchDirectoryRequest,
  { signal }: CallContext,
): AsyncGenerator<Response> {
  const root = pathFrom('/path', path)
  const changes = new MessageQueue<{ type: ChangeType; path: string }>(() => 1)
  const told = (type: ChangeType, at: string) => {
    const { last } = changes
    if (last?.type === ChangeType.OVERFLOW || (last?.type === type && last.path === at)) return
    if (changes.unread < mostWaiting) return changes.push({ type, path: at })
    changes.clear()
    changes.push({ type: ChangeType.OVERFLOW, path: root })
  }
  const tree = watched(root, recursive, told, () => changes.close())
  const stop = () => changes.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    yield {}
    for await (const change of changes) yield { change }
  } finally {
    signal.removeEventListener('abort', stop)
    tree.close()
  }
}

function watched(...args: ConstructorParameters<typeof DirectoryTree>): DirectoryTree {
  try {
    return new DirectoryTree(...args)
  } catch (error) {
    throw fileFault(error, '/path')
  }
}
