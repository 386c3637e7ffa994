import { Language } from '@automation/contract/common/v1/language'

/** What hostile code writes to the channel of its child, as Python and JavaScript both can have it: bytes in hexadecimal. */
const frame = (type: string, run: number, payload: string) => {
  const body = Buffer.concat([Buffer.from(type), numbers(run), Buffer.from(payload)])
  return Buffer.concat([numbers(body.length), body]).toString('hex')
}
const numbers = (...values: number[]) => Buffer.from(new Uint32Array(values).buffer)

export const forged: [name: string, bytes: string][] = [
  ['a frame that says it is larger than any', numbers(0xff_ff_ff_ff).toString('hex')],
  ['a frame that says it has no bytes', numbers(0, 0, 0).toString('hex')],
  ['a frame that says it is too short', numbers(3, 0).toString('hex')],
  ['a frame of a type that is none', frame('?', 1, 'x')],
  ['a value for another run', frame('V', 4242, '\0"forged"')],
  ['a value for the run before', frame('V', 0, '\0"forged"')],
  ['a failure of another run', frame('E', 4242, '{"name":"Error","message":"forged","stack":"forged"}')],
  ['a call for another run', frame('C', 4242, '{"id":1,"method":"run","process":"x"}')],
  ['that another run is clean', frame('K', 4242, '')],
  ['that it is clean while it runs', frame('K', 1, '')],
  ['that it has just started', frame('H', 0, '')],
  ['what is no JSON for a call', frame('C', 1, '{{{{')],
  ['garbage', Buffer.from('GET / HTTP/1.1\r\nHost: runner\r\n\r\n').toString('hex')],
]

const javascript = (bytes: string) => `
  const fs = require('fs')
  for (const descriptor of [4, 3]) { try { fs.writeSync(descriptor, Buffer.from('${bytes}', 'hex')) } catch {} }
  await new Promise((resolve) => setTimeout(resolve, 20))
  return 'own'`
const python = (bytes: string) => `
import os, time
for descriptor in (4, 3):
    try:
        os.write(descriptor, bytes.fromhex('${bytes}'))
    except OSError:
        pass
time.sleep(0.02)
return 'own'`

/** In each language: a run that lasts a little, one that closes its channel, and one that writes bytes to it. */
export const onChannels = (['javascript', 'python'] as const).map((language) => {
  const run = language === 'python' ? Language.PYTHON : Language.JAVASCRIPT
  const waits = {
    javascript: 'await new Promise((resolve) => setTimeout(resolve, 400)); return "neighbour"',
    python: 'import time\ntime.sleep(0.4)\nreturn "neighbour"',
  }
  const closes = {
    javascript: 'for (const d of [3, 4]) require("fs").closeSync(d); return 1',
    python: 'import os\nos.closerange(3, 64)\nreturn 1',
  }
  const source = { javascript, python }[language]
  return { language, run, waits: waits[language], closes: closes[language], source }
})
