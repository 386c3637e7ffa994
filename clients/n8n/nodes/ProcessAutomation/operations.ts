import { randomUUID } from 'node:crypto'
import { NodeOperationError, sleep, type IDataObject, type IExecuteFunctions } from 'n8n-workflow'
import { call, list, listBehind, type ApiRequest } from './api.ts'
import { attempt } from './attempt.ts'

/** What an operation gives for one item. */
type Operation = (context: IExecuteFunctions, itemIndex: number) => Promise<IDataObject | IDataObject[]>

/** By `resource.operation`. */
export const operations: Readonly<Record<string, Operation>> = {
  'process.runAndWait': runAndWait,
  'process.start': start,
  'process.getAll': getProcesses,
  'execution.get': getExecution,
  'execution.getAll': getExecutions,
  'execution.getLogs': getLogs,
  'execution.kill': kill,
}

/**
 * Starts a run and waits for its end. Where the service stops waiting, or a fault passes, the same start under the same key
 * waits on, and starts nothing.
 */
async function runAndWait(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject> {
  const request = startOf(context, itemIndex, 'execute-sync')
  const waitSeconds = context.getNodeParameter('options.waitSeconds', itemIndex, 3600) as number
  const until = Date.now() + waitSeconds * 1000
  for (;;) {
    const tried = await attempt(context, request)
    if ('answer' in tried) {
      const { headers, body } = tried.answer
      const header = Object.entries(headers).find(([name]) => /(^|-)execution-id$/i.test(name))
      return { executionId: header?.[1], status: 'FINISHED', returnValue: body }
    }
    const { error, pauseMs } = tried
    if (pauseMs === undefined || Date.now() + pauseMs >= until) throw error
    await sleep(pauseMs, context.getExecutionCancelSignal())
  }
}

function start(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject> {
  return call(context, startOf(context, itemIndex, 'execute'))
}

function startOf(context: IExecuteFunctions, itemIndex: number, word: string): ApiRequest {
  const process = context.getNodeParameter('process', itemIndex, '', { extractValue: true }) as string
  const options = context.getNodeParameter('options', itemIndex, {}) as IDataObject
  const { tag, comment, timeoutMs: timeout, agentPoolSlug, callbackUrl, freshProcess, idempotencyKey } = options
  return {
    method: 'POST',
    path: `/processes/${encodeURIComponent(process)}/${word}`,
    headers: { 'Idempotency-Key': idempotencyKey || randomUUID() },
    body: given({
      ...{ tag, comment },
      parameters: parametersOf(context, itemIndex),
      settings: given({ timeout, agentPoolSlug, callbackUrl, freshProcess }),
    }),
    itemIndex,
  }
}

/** Without what is left empty. */
const given = (object: IDataObject) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== ''))

function parametersOf(context: IExecuteFunctions, itemIndex: number): IDataObject {
  if (context.getNodeParameter('specifyParameters', itemIndex) === 'fields') return fieldsOf(context, itemIndex)
  const value = context.getNodeParameter('parametersJson', itemIndex) as string | IDataObject
  const parsed = typeof value === 'string' ? parsedJson(value) : value
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as IDataObject
  throw new NodeOperationError(context.getNode(), 'The parameters are no JSON object', {
    description: 'They are an object by name, such as { "name": "Ada" }',
    itemIndex,
  })
}

/** Only what is read by its own path has n8n converted to the types of the fields, and it takes no null there. */
function fieldsOf(context: IExecuteFunctions, itemIndex: number): IDataObject {
  const whole = context.getNodeParameter('parameterFields', itemIndex, {}, { rawExpressions: true })
  if (((whole as IDataObject).value ?? null) === null) return {}
  const fields = context.getNodeParameter('parameterFields.value', itemIndex) as IDataObject
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? null) !== null))
}

/** Undefined where the text is no JSON. */
function parsedJson(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function getProcesses(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject[]> {
  const { keywords, tags } = context.getNodeParameter('filters', itemIndex, {}) as IDataObject
  return list(context, { path: '/processes', query: given({ keywords, tags }), itemIndex }, mostOf(context, itemIndex))
}

/** With the value of its run in place of its JSON text. */
async function getExecution(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject> {
  return withValue(await call(context, { path: executionPath(context, itemIndex), itemIndex }))
}

async function getExecutions(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject[]> {
  const { status, q, from, to } = context.getNodeParameter('filters', itemIndex, {}) as IDataObject
  const statuses = [status ?? []].flat().join()
  const request = { path: '/executions', query: given({ status: statuses, q, from, to }), itemIndex }
  const executions = await listBehind<IDataObject>(context, request, mostOf(context, itemIndex))
  return executions.map(withValue)
}

function withValue(execution: IDataObject): IDataObject {
  const { returnValue } = execution
  return typeof returnValue === 'string'
    ? { ...execution, returnValue: parsedJson(returnValue) as IDataObject }
    : execution
}

function getLogs(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject[]> {
  const { level, contains } = context.getNodeParameter('filters', itemIndex, {}) as IDataObject
  const query = given({ level: [level ?? []].flat().join(), contains })
  const path = `${executionPath(context, itemIndex)}/logs`
  return list(context, { path, query, itemIndex }, mostOf(context, itemIndex))
}

async function kill(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject> {
  const path = executionPath(context, itemIndex)
  await call(context, { method: 'PUT', path: `${path}/kill`, itemIndex })
  return getExecution(context, itemIndex)
}

function executionPath(context: IExecuteFunctions, itemIndex: number): string {
  const id = context.getNodeParameter('executionId', itemIndex) as string
  return `/executions/${encodeURIComponent(id.trim())}`
}

const mostOf = (context: IExecuteFunctions, itemIndex: number) =>
  context.getNodeParameter('returnAll', itemIndex) === true
    ? Infinity
    : (context.getNodeParameter('limit', itemIndex) as number)
