import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { listening, type Listening } from '@automation/testing/listening'

interface Comment {
  id: number
  body: string
  user: { type: 'Bot' | 'User' }
  author_association: 'NONE'
}

/** Comments of a pull request behind GitHub's interface, as far as the action uses it. */
export class GitHubStandIn implements AsyncDisposable {
  readonly comments: Comment[] = []
  /** Method and path of each call. */
  readonly calls: string[] = []
  /** What the calls were authorized by. */
  readonly tokens = new Set<string | undefined>()
  /** Answers as where the job may not write. */
  refuses = false
  #server: Listening | undefined

  static async open(): Promise<GitHubStandIn> {
    const opened = new GitHubStandIn()
    opened.#server = await listening(createServer((request, response) => void opened.#answer(request, response)))
    return opened
  }

  get url(): string {
    return this.#server!.url
  }

  add(body: string, type: Comment['user']['type']): Comment {
    const made: Comment = { id: this.comments.length, body, user: { type }, author_association: 'NONE' }
    this.comments.push(made)
    return made
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, this.url)
    this.calls.push(`${request.method} ${pathname}`)
    this.tokens.add(request.headers.authorization)
    const send = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body))
    if (this.refuses) return void send(403, { message: 'Resource not accessible by integration' })
    if (request.method === 'GET') {
      const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get('per_page'))]
      return void send(200, this.comments.slice((page - 1) * size, page * size))
    }
    const { body } = (await json(request)) as { body: string }
    if (request.method === 'POST') {
      return void send(201, this.add(body, 'Bot'))
    }
    const found = this.comments.find(({ id }) => pathname.endsWith(`/${id}`))
    if (found === undefined) return void send(404, { message: 'Not Found' })
    found.body = body
    send(200, found)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.close()
  }
}
