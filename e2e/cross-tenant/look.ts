import type { Client } from '../client/client.ts'
import type { Belongings, Kind } from './belongings.ts'

/** Everything that a team can read of its belongings, to be compared with what it reads later. */
export async function lookAt({ client, names }: Belongings): Promise<Record<string, string>> {
  const first = async (kind: Kind) => (await names[kind]())[0] ?? ''
  const process = `/processes/${await first('process')}`
  const module = `/modules/${await first('module')}`
  const execution = `/executions/${await first('execution')}`
  const running = `/executions/${await first('runningExecution')}`
  const object = await first('object')
  const paths = [
    process,
    `${process}/versions`,
    `${process}/versions/${await first('version')}`,
    `${process}/aliases`,
    `${process}/aliases/${await first('alias')}`,
    `/executions?processId=${await first('process')}`,
    execution,
    `${execution}/logs`,
    running,
    `${running}/logs`,
    module,
    `${module}/versions`,
    `${module}/aliases`,
    `/schedules?processId=${await first('process')}`,
    `/schedules/${await first('schedule')}`,
    `/schedules/${await first('pausedSchedule')}`,
    `/sandboxes/${await first('sandbox')}`,
    `/storage/objects?prefix=${object}`,
    `/storage/objects/${object}`,
    '/dependencies/JAVASCRIPT',
    '/dependencies/PYTHON',
  ]
  const texts = await Promise.all(paths.map(async (path) => [path, (await client.get(path)).text] as const))
  return { ...Object.fromEntries(texts), variable: await variable(client, await first('variable')) }
}

async function variable(client: Client, id: string): Promise<string> {
  const { data } = (await client.get<{ data: { id: string }[] }>('/variables', { limit: 1000 })).body
  return JSON.stringify(data.find((one) => one.id === id))
}
