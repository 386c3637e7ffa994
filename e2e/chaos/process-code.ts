/**
 * The code of the processes that run under load. Each tells the ledger first of all that it began, and at last that it
 * came to its end; `parameters.ledger` is the ledger's address.
 */
const telling = `
const { ledger, workMs = 0, spawn = false, fail = false, lines = 0, child } = svc.context.parameters
const nonce = crypto.randomUUID()
const tell = async (what, pid = process.pid) => {
  const body = JSON.stringify({ what, id: svc.execution.id, nonce, pid })
  const answer = await fetch(ledger, { method: 'POST', body })
  if (!answer.ok) throw new Error('the ledger answered ' + answer.status)
  await answer.arrayBuffer()
}
await tell('start')
`

/** Works for \`workMs\`, and may leave a process in a session of its own behind, fail, or write lines. */
export const worker = `${telling}
if (spawn) {
  const left = require('node:child_process').spawn('sleep', ['307'], { detached: true, stdio: 'ignore' })
  left.unref()
  await tell('child', left.pid)
}
for (let line = 0; line < lines; line += 1) console.log('line', line)
for (let left = workMs; left > 0; left -= 200) {
  await new Promise((done) => setTimeout(done, Math.min(left, 200)))
  await tell('beat')
}
if (fail) throw new Error('asked to fail')
await tell('end')
return svc.context.parameters.answer ?? null
`

/** Starts the worker twice, once waiting for it; the comments of both name this run and the call. */
export const parent = `${telling}
const start = (call, method) => svc.processes[method](child, {
  parameters: { ledger, workMs, answer: call }, comment: 'nested ' + svc.execution.id + ' ' + call, settings: { timeout: 4000 },
})
const id = await start(1, 'run')
const value = await start(2, 'runSync')
await tell('end')
return { id, value }
`
