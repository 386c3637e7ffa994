import { refusalOf } from './client.ts'

interface Transfer {
  method: 'POST' | 'PUT'
  body: Blob
  headers?: Record<string, string>
  signal?: AbortSignal
  onProgress?: (sentBytes: number) => void
}

/** Sends bytes and tells how many have gone, which fetch does not; what is refused is thrown as ProblemError. */
export function send(address: string, { method, body, headers = {}, signal, onProgress }: Transfer): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, address)
    request.setRequestHeader('X-Console', '1')
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    const abort = () => request.abort()
    signal?.addEventListener('abort', abort)
    request.upload.addEventListener('progress', ({ loaded }) => onProgress?.(loaded))
    request.addEventListener('loadend', () => signal?.removeEventListener('abort', abort))
    request.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')))
    request.addEventListener('error', () => reject(new TypeError('The connection is cut')))
    request.addEventListener('load', () => {
      const response = responseOf(request)
      if (response.ok) resolve(response)
      else refusalOf(response).then(reject, reject)
    })
    if (signal?.aborted) return reject(new DOMException('Cancelled', 'AbortError'))
    request.send(body)
  })
}

function responseOf(request: XMLHttpRequest): Response {
  const { status, statusText } = request
  const type = request.getResponseHeader('Content-Type') ?? 'text/plain'
  const headers = { 'Content-Type': type, 'X-Request-Id': request.getResponseHeader('X-Request-Id') ?? '' }
  return new Response(status === 204 ? null : request.responseText, { status, statusText, headers })
}
