import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, picture, subject, visit } from './browser.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('a stranger with the link alone fills a form in on a phone, is told faults at their fields, and sees the answer', async () => {
  const { context, page, complaints } = await visit(browser, { isStranger: true, width: 360 })
  await page.goto(`${subject.origin}/forms/${subject.scene.form}`)
  await page.getByRole('heading', { name: 'Order a desk', level: 1 }).waitFor()
  expect(await page.getByRole('navigation').count()).toBe(0)

  await page.getByLabel('Desks').fill('12')
  await page.getByLabel(/^Plan of the room/).setInputFiles({
    name: 'plan.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('four walls'),
  })
  await page.getByRole('button', { name: 'Send' }).click()
  const desks = page.getByLabel('Desks')
  await expect.poll(() => desks.getAttribute('aria-invalid')).toBe('true')
  expect(await page.getByLabel(/^Your name/).getAttribute('aria-invalid')).toBe('true')
  await picture(page, 'form-faults')

  await page.getByLabel(/^Your name/).fill('Ada')
  await desks.fill('2')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('heading', { name: 'Sent' }).waitFor()
  await page.getByText('desks for Ada').waitFor()
  await page.getByText('bytes of plan.txt').waitFor()
  await picture(page, 'form-answer')
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  expect(width).toBeLessThanOrEqual(360)
  expect(complaints).toEqual([])
  await context.close()
})

test('the link of a form reaches nothing else of the team', async () => {
  const { context, page } = await visit(browser, { isStranger: true })
  const token = new URL(`${subject.origin}/${subject.scene.form}`).searchParams.get('token') ?? ''
  await page.goto(`${subject.origin}/forms/${subject.scene.form}`)
  await page.getByRole('heading', { name: 'Order a desk', level: 1 }).waitFor()
  const { team, scene, host, origin } = subject
  const others = [
    `${origin}/api/${team}/rest/variables?token=${token}`,
    `${origin}/api/${team}/rest/executions?token=${token}`,
    `${origin}/api/${team}/rest/executions/${scene.finished}?token=${token}`,
    `${origin}/api/${team}/forms/${scene.greeting.slug}?token=${token}`,
  ]
  const answers = await page.evaluate(
    (addresses) => Promise.all(addresses.map(async (address) => (await fetch(address)).status)),
    others,
  )
  expect(answers).toEqual([401, 401, 401, 404])
  const [outside, bearer] = await Promise.all([
    fetch(`${host}/api/${team}/rest/variables?token=${token}`),
    fetch(`${host}/api/${team}/rest/variables`, { headers: { authorization: `Bearer ${token}` } }),
  ])
  expect([outside.status, bearer.status]).toEqual([401, 401])
  const ours = `${host}/api/${team}/forms/${scene.form.split(/[/?]/)[1]}`
  expect((await fetch(`${ours}?token=wrong`)).status).toBe(401)
  await context.close()
})
