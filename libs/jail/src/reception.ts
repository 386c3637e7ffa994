import { createServer, type Server, Socket } from 'node:net'
import { constants, openSync, unlinkSync } from 'node:fs'

const tokenLength = 32
const headLength = tokenLength + 1
const firstDescriptor = '0'.charCodeAt(0)
const comeWithinMs = 10_000

interface Expected {
  /** Who has been told to send it. */
  by: object
  descriptors: number[]
  sockets: (Socket | undefined)[]
  resolve(connections: Socket[]): void
  reject(reason: Error): void
  timer: NodeJS.Timeout
}

/** Where launchers connect. Users' code may reach the socket, too; without a token that is expected it gets nothing. */
export class Reception {
  readonly path: string
  readonly #server: Server
  readonly #expected = new Map<string, Expected>()

  private constructor(path: string) {
    this.path = path
    this.#server = createServer((socket) => this.#receive(socket))
  }

  static async open(path: string): Promise<Reception> {
    const reception = new Reception(path)
    await new Promise<void>((resolve, reject) => {
      reception.#server.once('error', reject)
      reception.#server.listen({ path, backlog: 512 }, resolve)
    })
    return reception
  }

  /** The connections of the launcher with this token for these descriptors, in their order; resolves with the last. */
  async expect(by: object, token: string, descriptors: number[]): Promise<Socket[]> {
    return new Promise<Socket[]>((resolve, reject) => {
      const timer = setTimeout(() => this.giveUp(token, new Error('a child did not come in time')), comeWithinMs)
      this.#expected.set(token, { by, descriptors, sockets: descriptors.map(() => undefined), resolve, reject, timer })
    })
  }

  close(): void {
    this.giveUpAll(new Error('the service stops'))
    this.#server.close()
  }

  /** Who waits for this launcher is told why it does not come. */
  giveUp(token: string, reason: Error): void {
    const expected = this.#expected.get(token)
    if (expected === undefined) return
    this.#expected.delete(token)
    clearTimeout(expected.timer)
    for (const socket of expected.sockets) socket?.destroy()
    expected.reject(reason)
  }

  /** Nobody who is expected comes any more; with `from`, nobody whom that one was told to send. */
  giveUpAll(reason: Error, from?: object): void {
    for (const [token, { by }] of this.#expected) if (from === undefined || by === from) this.giveUp(token, reason)
  }

  #receive(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), comeWithinMs)
    const destroy = () => socket.destroy()
    socket.on('error', destroy)
    const look = () => {
      const head = socket.read(headLength) as Buffer | null
      if (head === null) return
      clearTimeout(timer)
      socket.off('readable', look)
      socket.off('error', destroy)
      this.#arrived(socket, head.toString('latin1', 0, tokenLength), head[tokenLength]! - firstDescriptor)
    }
    socket.on('readable', look)
  }

  #arrived(socket: Socket, token: string, descriptor: number): void {
    const expected = this.#expected.get(token)
    const at = expected?.descriptors.indexOf(descriptor) ?? -1
    if (expected === undefined || at < 0 || expected.sockets[at] !== undefined) return void socket.destroy()
    socket.on('error', ignoreBroken)
    expected.sockets[at] = socket
    if (expected.sockets.includes(undefined)) return
    this.#expected.delete(token)
    clearTimeout(expected.timer)
    expected.resolve(expected.sockets as Socket[])
  }
}

/** A channel that breaks tells that the child is going; how it went is told when it has gone. */
function ignoreBroken(): void {}

/** Takes bytes of an output. Their memory is used again afterwards: who keeps them copies them. */
type OnBytes = (bytes: Buffer) => void

// All outputs are read into it: a flood that is thrown away must leave nothing to collect, as collecting stops everybody.
const shared = Buffer.allocUnsafeSlow(64 * 1024)

/** One of the two outputs of a child. */
export class Output extends Socket {
  readonly #take: { bytes: OnBytes; early: Buffer[] }

  private constructor(fd: number, take: { bytes: OnBytes; early: Buffer[] }) {
    const callback = (count: number) => (take.bytes(shared.subarray(0, count)), true)
    super({ fd, readable: true, writable: false, onread: { buffer: shared, callback } })
    this.#take = take
  }

  /** Opens a named pipe that the launcher holds open, too; its name is not needed any more. */
  static open(path: string): Output {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    unlinkSync(path)
    const early: Buffer[] = []
    return new Output(fd, { early, bytes: (bytes) => early.push(Buffer.from(bytes)) })
  }

  /** Who takes what is printed, from the start. */
  onBytes(take: OnBytes): void {
    this.#take.bytes = take
    for (const bytes of this.#take.early.splice(0)) take(bytes)
  }
}
