import { createRequire, syncBuiltinESMExports } from 'node:module'
import { hostOfNow, type World } from './world.ts'

const require = createRequire(import.meta.url)

/** What a program gets from `setTimeout`. */
class WorldTimer {
  #coming: { cancel(): void }
  readonly #begin: () => { cancel(): void }

  constructor(begin: () => { cancel(): void }) {
    this.#begin = begin
    this.#coming = begin()
  }

  cancel(): void {
    this.#coming.cancel()
  }

  again(): void {
    this.#coming = this.#begin()
  }

  refresh(): this {
    this.cancel()
    this.again()
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }
}

type Callback = (...args: unknown[]) => void

/** Gives this process the world's clock, timers and randomness in place of Node's own, until the end of it. */
export function installWorldClock(world: World): void {
  const setTimeout = (callback: Callback, ms = 0, ...args: unknown[]) =>
    new WorldTimer(() => world.after(Math.max(Number(ms) || 0, 1), () => callback(...args)))
  const setInterval = (callback: Callback, ms = 0, ...args: unknown[]) => {
    const timer: WorldTimer = new WorldTimer(() =>
      world.after(Math.max(ms, 1), () => {
        timer.again()
        callback(...args)
      }),
    )
    return timer
  }
  const setImmediate = (callback: Callback, ...args: unknown[]) => world.after(0, () => callback(...args))
  const cancel = (timer: unknown) => {
    if (typeof timer === 'object' && timer !== null) (timer as { cancel(): void }).cancel()
  }
  const timers = { setTimeout, setInterval, setImmediate }
  const clears = { clearTimeout: cancel, clearInterval: cancel, clearImmediate: cancel }
  Object.assign(globalThis, timers, clears, { Date: worldDate(world) })
  Object.assign(require('node:timers') as object, timers, clears)
  Object.assign(require('node:timers/promises') as object, promised(world))
  performance.now = () => world.nowMs
  AbortSignal.timeout = (ms: number) => {
    const controller = new AbortController()
    world.after(ms, () => controller.abort(new DOMException('The operation timed out', 'TimeoutError')))
    return controller.signal
  }
  installFiles(world)
  installChance(world)
  syncBuiltinESMExports()
}

function worldDate(world: World): DateConstructor {
  const RealDate = Date
  return class extends RealDate {
    constructor(...args: unknown[]) {
      if (args.length === 0) super(Math.floor(world.clockMs))
      else super(...(args as [number]))
    }

    static override now(): number {
      return Math.floor(world.clockMs)
    }
  } as DateConstructor
}

function promised(world: World) {
  const setTimeout = (ms = 0, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const aborted = () => {
        coming.cancel()
        reject(new DOMException('The operation was aborted', 'AbortError'))
      }
      const coming = world.after(Math.max(ms, 1), () => {
        signal?.removeEventListener('abort', aborted)
        resolve(value)
      })
      if (signal?.aborted) aborted()
      else signal?.addEventListener('abort', aborted, { once: true })
    })
  const setImmediate = (value?: unknown) => new Promise((resolve) => world.after(0, () => resolve(value)))
  return { setTimeout, setImmediate }
}

/** What is read from the disk is there in no time of the world. */
function installFiles(world: World): void {
  const files = require('node:fs/promises') as Record<string, (...args: unknown[]) => Promise<unknown>>
  for (const name of ['readFile', 'readdir']) {
    const read = files[name]!
    files[name] = (...args) =>
      new Promise((resolve, reject) => {
        const host = hostOfNow()
        const later = (act: () => void) => world.after(0, act, host)
        world.after(0, () =>
          read(...args).then(
            (content) => later(() => resolve(content)),
            (error: Error) => later(() => reject(error)),
          ),
        )
      })
  }
}

function installChance({ chance }: World): void {
  const fill = <T extends ArrayBufferView>(target: T): T => {
    chance.bytes(new Uint8Array(target.buffer, target.byteOffset, target.byteLength))
    return target
  }
  const randomUUID = () => {
    const hex = Buffer.from(fill(new Uint8Array(16))).toString('hex')
    const variant = '89ab'[chance.between(0, 3)]
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  Math.random = () => chance.next()
  const node = require('node:crypto') as Record<string, unknown>
  Object.assign(node, { randomUUID, randomFillSync: fill, randomBytes: (count: number) => fill(Buffer.alloc(count)) })
  Object.assign(globalThis.crypto, { randomUUID, getRandomValues: fill })
}
