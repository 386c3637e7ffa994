import type { ConsoleUnderTest } from './global-setup.ts'

/**
 * What a page of somebody else tries with the session of who opens it: to read it, to read and to change what it may, to
 * end it, and to look into a frame of the console. It writes what it got into its title.
 */
export const attackOn = ({ origin, team }: Pick<ConsoleUnderTest, 'origin' | 'team'>): string => `
  const console = '${origin}'
  const rest = console + '/api/${team}/rest'
  const as = (init) => ({ credentials: 'include', ...init })
  const json = { 'content-type': 'text/plain' }
  const look = (address) => new Promise((done) => {
    const frame = document.createElement('iframe')
    frame.src = address
    frame.onload = () => { try { done(frame.contentDocument.body.innerHTML) } catch { done('') } }
    setTimeout(() => done(''), 3000)
    document.body.append(frame)
  })
  Promise.allSettled([
    fetch(console + '/session', as()).then((answer) => answer.text()),
    fetch(rest + '/variables', as()).then((answer) => answer.text()),
    fetch(rest + '/variables', as({ method: 'POST', headers: json, body: '{"key":"STOLEN","value":"1"}' })).then((answer) => answer.status),
    fetch(console + '/session', as({ method: 'DELETE', headers: { 'X-Console': '1' } })).then((answer) => answer.status),
    look(console + '/'),
  ]).then((all) => { document.title = 'done ' + JSON.stringify(all.map((one) => one.value ?? '')) })
`

/** The title where nothing was got. */
export const NOTHING_REACHED = 'done ["","","","",""]'
