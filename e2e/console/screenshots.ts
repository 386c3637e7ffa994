import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { accessTokenOf } from '../client/client.ts'
import { browserArguments, browserPath, noBrowser } from '../suite/browser.ts'
import { readOptions } from '@automation/testing/options'
import { endOnSignals, repositoryRoot, startSystem } from '../system/system.ts'
import { makeScene } from './scene.ts'
import { signInLink } from './sign-in-link.ts'
import { buildConsole } from './build.ts'
import { untilShown } from './until.ts'

const help = `npm run screenshots [-- --into FOLDER]

Makes the pictures of the console that the documents show, from a system of its own, in a Chromium of this machine.

  --into FOLDER   where they are written (docs/images/console)
`

const options = readOptions(help, { into: { type: 'string', default: 'docs/images/console' } }, ({ into }) => ({
  into,
}))
await makePictures(join(repositoryRoot, options.into))

async function makePictures(folder: string): Promise<void> {
  if (browserPath === undefined) throw new Error(`Pictures are made by a browser, and there is ${noBrowser}`)
  endOnSignals()
  await buildConsole()
  const system = await startSystem({ shape: 'embedded', team: 'demo' })
  const browser = await chromium.launch({ executablePath: browserPath, args: browserArguments })
  try {
    const { host, team, apiToken } = system
    const link = await signInLink(system)
    const accessToken = await accessTokenOf(host, team, apiToken)
    const { failing, greeting, failed } = await makeScene({ host, team, accessToken })
    await mkdir(folder, { recursive: true })
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' })
    await page.goto(link.href)
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    const pictures: [name: string, path: string, shown: string][] = [
      ['home', '', 'Coming firings'],
      ['editor', `/processes/${failing.slug}/edit`, 'Parameters'],
      ['execution', `/executions/${failed}`, 'order 4711'],
      ['webhook', `/processes/${greeting.slug}/webhook`, 'Deliveries'],
      ['calendar', '/schedules?view=calendar', 'Today'],
    ]
    for (const [name, path, shown] of pictures) {
      await page.goto(`${link.origin}/t/${team}${path}`)
      await page.getByText(shown).filter({ visible: true }).first().waitFor()
      await untilShown(page)
      await page.screenshot({ path: join(folder, `${name}.png`) })
      console.log(`${name}.png`)
    }
  } finally {
    await browser.close()
    await system.stop()
  }
}
