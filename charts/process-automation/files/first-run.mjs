// What `helm test` does: a run, from the API token to its value.
import { readFileSync } from 'node:fs'

const { GATEWAY, TEAM } = process.env
const apiToken = readFileSync('/run/secrets/automation/BOOTSTRAP_API_TOKEN', 'utf8').trim()
const name = `helm-test-${Date.now()}`
let headers = { 'x-api-token': apiToken }

async function call(method, path, body) {
  const response = await fetch(`${GATEWAY}/api/${TEAM}/rest${path}`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(90_000),
  })
  const text = await response.text()
  if (!response.ok)
    throw new Error(`${method} ${path} answers ${response.status}: ${text.replaceAll(apiToken, '******')}`)
  return text === '' ? undefined : JSON.parse(text)
}

const { access_token: accessToken } = await call('POST', '/auth/token')
headers = { authorization: `Bearer ${accessToken}` }
await call('POST', '/processes', { name, sourceCode: 'return svc.context.parameters.a + 1' })
try {
  const began = Date.now()
  const value = await call('POST', `/processes/${name}/execute-sync`, { parameters: { a: 41 } })
  if (value !== 42) throw new Error(`the run gives ${JSON.stringify(value)}, not 42`)
  console.log(`a run gave 42 in ${Date.now() - began} ms`)
} finally {
  await call('DELETE', `/processes/${name}`)
}
