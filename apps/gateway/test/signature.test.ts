import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { signatureHeaders, usualHeader, type SigningScheme } from '../src/webhooks/signature.ts'

/** Headers by name, signed with this secret at this time. */
async function signed(scheme: SigningScheme, secret: string, body: string, seconds = 0, header = usualHeader(scheme)) {
  const sign = async (message: Buffer) => createHmac('sha256', secret).update(message).digest()
  const signing = { scheme, header: header ?? '', nowMs: seconds * 1000 + 999, sign }
  return Object.fromEntries(await signatureHeaders(Buffer.from(body), signing))
}

test('github: the example of its documentation', async () => {
  expect(await signed('github', "It's a Secret to Everybody", 'Hello, World!')).toEqual({
    'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  })
})

test('slack: the example of its documentation', async () => {
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
  expect(await signed('slack', '8f742231b10e8888abcd99yyyzzz85a5', body, 1_531_420_618)).toEqual({
    'X-Slack-Request-Timestamp': '1531420618',
    'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  })
})

test('hmac: the second case of RFC 4231, in the header that was named', async () => {
  expect(await signed('hmac', 'Jefe', 'what do ya want for nothing?', 0, 'X-Signature')).toEqual({
    'X-Signature': '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  })
})

test('shopify: the same in base64', async () => {
  expect(await signed('shopify', 'Jefe', 'what do ya want for nothing?')).toEqual({
    'X-Shopify-Hmac-Sha256': 'W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=',
  })
})

test('stripe: the time stands before the body and in the header', async () => {
  const { 'X-Hub-Signature-256': plain = '' } = await signed('github', 'whsec_test', '1492774577.{"id":1}')
  expect(await signed('stripe', 'whsec_test', '{"id":1}', 1_492_774_577)).toEqual({
    'Stripe-Signature': `t=1492774577,v1=${plain.slice('sha256='.length)}`,
  })
})
