import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import pg from 'pg'
import { warmNode, warmPython } from './warm-child.ts'

/**
 * The least that could do the work: Hono and prepared statements on PostgreSQL, without tokens, limits, versions,
 * events or a jail. `/run` writes a row, runs the no-op in a warm child and ends the row; `/accept` writes a row. With
 * FLOOR_LANGUAGE=PYTHON the no-op runs in a fresh fork of a warm Python.
 */
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 })
await pool.query(
  `CREATE TABLE IF NOT EXISTS runs (id uuid PRIMARY KEY, status text NOT NULL, parameters text NOT NULL, result text,
   created_at timestamptz NOT NULL DEFAULT now(), ended_at timestamptz)`,
)
const noop =
  process.env['FLOOR_LANGUAGE'] === 'PYTHON'
    ? () => warmPython("def main(parameters):\n    return {'n': parameters['n']}\n", 'fork')
    : () => warmNode('(parameters) => ({ n: parameters.n })')
const children = [noop(), noop()]
let turn = 0

const insert = (id: string, parameters: string) =>
  pool.query({
    name: 'insert',
    text: `INSERT INTO runs (id, status, parameters) VALUES ($1, 'RUNNING', $2)`,
    values: [id, parameters],
  })
const finish = (id: string, result: string) =>
  pool.query({
    name: 'finish',
    text: `UPDATE runs SET status = 'FINISHED', result = $2, ended_at = now() WHERE id = $1`,
    values: [id, result],
  })

const app = new Hono()
  .get('/ready', (c) => c.text('ready'))
  .post('/run', async (c) => {
    const parameters = await c.req.text()
    const id = crypto.randomUUID()
    await insert(id, parameters)
    const child = children[turn++ % children.length]
    const result = (await child?.run(parameters)) ?? 'null'
    await finish(id, result)
    return c.body(result, 200, { 'content-type': 'application/json' })
  })
  .post('/accept', async (c) => {
    const id = crypto.randomUUID()
    await insert(id, await c.req.text())
    return c.json({ id, status: 'CREATED', data: null }, 201, { 'svc-execution-id': id })
  })

const server = serve({ fetch: app.fetch, port: Number(process.env['PORT']), hostname: '127.0.0.1' })
process.once('SIGTERM', () => {
  for (const child of children) child.stop()
  server.close()
  process.exit(0)
})
