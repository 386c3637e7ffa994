import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { chromium, type Route } from 'playwright-core'
import { expect, test } from 'vitest'
import type { ClientOptions } from '@automation/client'
import { browserArguments, browserPath } from '../suite/browser.ts'
import { clientAt, installedIn, system, unique } from './installed.ts'

const canRun = installedIn !== undefined && browserPath !== undefined

test.skipIf(!canRun)('the client runs in a browser, as it is installed', async () => {
  const { slug } = await clientAt().processes.create({
    name: unique(),
    sourceCode: "console.log('a'); console.log('b'); return svc.context.parameters",
  })
  const browser = await chromium.launch({ executablePath: browserPath, args: browserArguments })
  try {
    const page = await browser.newPage()
    const script = (path: string) => async (route: Route) =>
      route.fulfill({ contentType: 'text/javascript', body: await readFile(path) })
    const at = join(installedIn!, 'package.json')
    const parser = createRequire(createRequire(at).resolve('@process-automation/client')).resolve('eventsource-parser')
    await page.route('**/own/client.js', script(createRequire(at).resolve('@process-automation/client')))
    await page.route('**/own/eventsource-parser/*', (route) => {
      const name = new URL(route.request().url()).pathname.split('/').at(-1)!
      return script(join(parser, '..', name))(route)
    })
    const imports = JSON.stringify({ imports: { 'eventsource-parser': '/own/eventsource-parser/index.js' } })
    const html = `<!doctype html><title>Client</title><script type="importmap">${imports}</script>`
    await page.route('**/own/page', (route) => route.fulfill({ contentType: 'text/html', body: html }))
    await page.goto(`${system.host}/own/page`)
    const options: ClientOptions = { url: system.host, team: system.team, token: system.apiToken }
    const found: unknown = await page.evaluate(`(async () => {
      const { Client } = await import('/own/client.js')
      const pas = new Client(${JSON.stringify(options)})
      const run = await pas.processes.run(${JSON.stringify(slug)}, { from: 'a browser' })
      const lines = []
      for await (const { message } of run.logs()) lines.push(message)
      await pas.storage.upload('browser.txt', new Blob(['text']))
      const text = await (await pas.storage.download('browser.txt')).text()
      return { lines, text, value: await run.result() }
    })()`)
    expect(found).toEqual({ lines: ['a', 'b'], text: 'text', value: { from: 'a browser' } })
  } finally {
    await browser.close()
  }
})
