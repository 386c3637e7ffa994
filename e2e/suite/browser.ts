import { existsSync } from 'node:fs'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** A Chromium of this machine: BROWSER_PATH, else where systems put one; undefined where there is none. */
export const browserPath = [process.env['BROWSER_PATH'], ...PLACES].find((path) => path && existsSync(path))

/** Why there is none, in words. */
export const noBrowser = 'no Chromium; BROWSER_PATH may name one'

/** Without anything that calls home. */
export const browserArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
