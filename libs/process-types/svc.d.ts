/*
 * What the code of a process finds of the service that runs it. Editors know the global `svc` and the module `svc` by
 * this file. Where the service has another name for it beside that (CODE_GLOBAL_ALIAS), such as `acme`:
 *
 *   declare const acme: Svc.Service
 *   declare module 'acme' {
 *     export * from 'svc'
 *     export { default } from 'svc'
 *   }
 */

declare const svc: Svc.Service

declare module 'svc' {
  const svc: Svc.Service
  export default svc
  export const context: Svc.Context
  export const env: Svc.Variables
  export const execution: Svc.Execution
  export const team: Svc.Team
  export const processes: Svc.Processes
  export const storage: Svc.Storage
  export const datastore: Svc.Datastore
  const importModule: Svc.Service['import']
  export { importModule as import }
}

declare namespace Svc {
  interface Service {
    context: Context
    /** The team's variables, by their keys. Values of sensitive ones appear as `******` in logs. */
    env: Variables
    execution: Execution
    team: Team
    processes: Processes
    storage: Storage
    datastore: Datastore
    /**
     * A module of the team, by its name as a literal; of a version or alias where that is given.
     *
     * @example
     * const { greet } = svc.import('greetings', 'v2')
     */
    import(name: string, tagOrAlias?: string): any
  }

  interface Context {
    /** What the caller gave. */
    parameters: Parameters
    /** Of runs that a webhook or a form has started. */
    request?: WebhookRequest
  }

  /** To be narrowed: `const { name } = /** @type {{ name: string }} *\/ (svc.context.parameters)`. */
  interface Parameters {
    [name: string]: any
  }

  interface WebhookRequest {
    method: string
    /** Names are in lower case. */
    headers: Record<string, string>
    query: Record<string, string | string[]>
    /** The body as it came: text or, where `isBase64` says so, bytes in base64. */
    rawBody: string
    isBase64?: true
  }

  interface Variables {
    [key: string]: string
  }

  /** This run. */
  interface Execution {
    id: string
    comment: string | null
    process: { id: string; name: string; slug: string }
    /** What has started it, where that is a schedule. */
    schedule?: { id: string; comment: string | null }
    /** Of the team, as an IANA name. */
    timezone: string
  }

  interface Team {
    slug: string
    /** An IANA name. */
    timezone: string
  }

  interface Processes {
    /** Starts another process of the team, by its slug or id; gives the id of the execution. */
    run(identifier: string, start?: Start): Promise<string>
    /** Starts it and waits for its value. Rejects with `ProcessError` where it has none. */
    runSync<Value = any>(identifier: string, start?: Start): Promise<Value>
  }

  interface Start {
    parameters?: Record<string, unknown> | string | null
    /** A version's tag or id, or an alias; the current source where absent. */
    tag?: string | null
    comment?: string | null
    settings?: {
      /** Milliseconds. */
      timeout?: number | null
      agentPoolSlug?: string | null
      /** Gets the outcome by POST. */
      callbackUrl?: string | null
      freshProcess?: boolean | null
    } | null
  }

  /** What `svc.processes` rejects with. */
  interface ProcessError extends Error {
    name: 'ProcessError'
    /** A stable word. */
    code?: string
    /** How the run ended, where it did not by its value. */
    status?: string
    executionId?: string
  }

  /** The team's files, with names that may have slashes. */
  interface Storage {
    /** Stores a file; one of the same name is replaced. */
    upload(
      name: string,
      data:
        | string
        | ArrayBufferView
        | ArrayBuffer
        | BlobContent
        | AsyncIterable<string | Uint8Array>
        | Iterable<string | Uint8Array>,
      options?: { contentType?: string },
    ): Promise<StorageObject>
    /** A stream of its content: `for await (const bytes of await svc.storage.download(name))`. */
    download(name: string): Promise<ContentStream>
    /** Those whose names begin with the prefix. */
    list(options?: { prefix?: string } | string): Promise<StorageObject[]>
    delete(name: string): Promise<void>
    /** A link by which anybody may download it for some time, an hour unless told otherwise. */
    createSignedUrl(name: string, options?: { expiresInSeconds?: number }): Promise<SignedUrl>
  }

  /** A Blob or a File. */
  interface BlobContent {
    readonly size: number
    readonly type: string
    arrayBuffer(): Promise<ArrayBuffer>
  }

  // @ts-ignore -- it is `any` where @types/node is not installed
  type NodeReadable = import('node:stream').Readable

  /** Node's `Readable`; where its types are not installed, what is used of it most. */
  type ContentStream = string extends keyof NodeReadable ? BytesStream : NodeReadable

  interface BytesStream extends AsyncIterable<Uint8Array> {
    setEncoding(encoding: string): this
    pipe<Target>(target: Target): Target
    toArray(): Promise<Uint8Array[]>
    on(event: string, listener: (...values: any[]) => void): this
    destroy(error?: Error): this
  }

  interface StorageObject {
    name: string
    /** Bytes. */
    size: number
    /** In base64. */
    md5Hash: string
    contentType: string
    /** RFC 3339. */
    createdAt: string
    updatedAt: string
    link: string
  }

  interface SignedUrl {
    url: string
    path: string
    /** RFC 3339. */
    expiresAt: string
  }

  /** Small values that the team's runs share: JSON of up to 64 KiB each. */
  interface Datastore {
    /** Null where there is none. */
    get<Value = any>(key: string): Promise<Value | null>
    set(key: string, value: unknown): Promise<void>
    /** Whether it was there. */
    del(key: string): Promise<boolean>
    /** The same as `del`. */
    delete(key: string): Promise<boolean>
    keys(prefix?: string): Promise<string[]>
  }

  /** What `svc.storage` and `svc.datastore` reject with. */
  interface StorageError extends Error {
    name: 'StorageError'
    /** A stable word, such as `object_not_found`. */
    code?: string
  }
}
