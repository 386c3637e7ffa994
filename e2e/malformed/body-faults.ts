import type { Random } from '../system/random.ts'
import type { Attempt } from './attempt.ts'
import type { Scene } from './scene.ts'

const bodyBytes = 10 * 1024 * 1024
const form = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data; boundary=b'
const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'

/** A large body of ever so many small things, each of which costs more than its bytes. */
export function manyThings(scene: Scene, random: Random): Attempt {
  const [type, unit, status] = random.pick<[string, string, readonly number[]]>([
    [form, 'a&', [400]],
    [form, 'a=1&', [400]],
    [form, '%', [400, 413]],
    [form, '%ff', [400, 413]],
    [form, '&', [200, 204, 413]],
    [form, '+', [400, 413]],
    [multipart, part, [400]],
    [multipart, '--b\r\n', [400]],
    [multipart, '--b\r\nconstructor: x\r\n\r\n', [400]],
  ])
  return {
    fault: 'large body of many things',
    method: 'POST',
    path: scene.playgroundWebhook,
    headers: { 'content-type': type },
    body: unit.repeat(Math.floor(bodyBytes / unit.length)),
    expect: 'any',
    // Many at once are more than one address may leave unfinished.
    status: [...status, 503],
  }
}

/** The same where nobody may start anything: who is not let in is told so, not what is wrong with the body. */
export function manyThingsForNobody(scene: Scene, random: Random): Attempt {
  const unit = random.pick(['a&', 'a=1&', '%', '{"a":1}'])
  return {
    fault: 'large body for nobody',
    method: 'POST',
    path: scene.fill('/api/{team}/webhooks/there-is-none'),
    headers: { 'content-type': random.pick([form, multipart, 'application/json']) },
    body: unit.repeat(Math.floor(bodyBytes / unit.length)),
    expect: 'refused',
    status: [404, 503],
  }
}
