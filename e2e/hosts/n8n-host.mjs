/**
 * The engine of n8n with one package of nodes, by what stands as JSON in stdin: `modules` is the folder with n8n's packages,
 * `package` that of the nodes, `credentials` the data of its one credential, `calls` what is done one after the other.
 * Writes what came of each to descriptor 3. What n8n keeps in its database stands here in variables.
 */
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const given = JSON.parse(await text(process.stdin))
const require = createRequire(join(given.modules, 'package.json'))
require('reflect-metadata')
const core = require('n8n-core')
const flow = require('n8n-workflow')

const loader = new core.PackageDirectoryLoader(given.package)
await loader.loadAll()
const [credentialName] = Object.keys(loader.known.credentials)
const credentialType = loader.getCredential(credentialName).type
const stored = { ...Object.fromEntries(credentialType.properties.map((one) => [one.name, one.default])) }
Object.assign(stored, given.credentials)

/** Gives the items that a workflow begins with. */
const items = {
  description: {
    ...{ displayName: 'Items', name: 'items', group: ['input'], version: 1, description: '', defaults: {} },
    ...{ inputs: [], outputs: ['main'], properties: [] },
  },
  execute() {
    return Promise.resolve([this.getNode().notes.map((json) => ({ json }))])
  },
}

/** Tests a credential by the request that it names. */
const tester = {
  description: {
    ...items.description,
    inputs: ['main'],
    credentials: [{ name: credentialName, required: true }],
    properties: [
      {
        displayName: 'Temp',
        name: 'temp',
        type: 'string',
        default: '',
        routing: { request: credentialType.test.request },
      },
    ],
  },
}

const nodeTypes = {
  getByNameAndVersion(type) {
    return type === 'items'
      ? items
      : type === 'n8n-nodes-base.noOp'
        ? tester
        : loader.getNode(type.split('.').at(-1)).type
  },
  getByName(type) {
    return this.getByNameAndVersion(type)
  },
  getKnownTypes: () => loader.known.nodes,
}

let renewals = 0

class Credentials extends flow.ICredentialsHelper {
  getParentTypes = () => []
  isCredentialUsableByNode = () => true
  getCredentialsProperties = () => credentialType.properties
  getDecrypted = () => Promise.resolve({ ...stored })
  async authenticate(credentials, _type, options, workflow, node) {
    const keys = { $credentials: credentials }
    for (const [part, values] of Object.entries(credentialType.authenticate.properties))
      for (const [name, value] of Object.entries(values)) {
        const resolved = workflow.expression.getSimpleParameterValue(node, value, 'internal', keys, undefined, '')
        options[part] = { ...options[part], [name]: resolved }
      }
    return options
  }
  async preAuthentication(helpers, credentials, _type, node, hasEnded) {
    const isTest = node.type === 'n8n-nodes-base.noOp'
    if (credentials.accessToken !== '' && !hasEnded && !isTest) return undefined
    renewals += 1
    return Object.assign(stored, await credentialType.preAuthentication.call(helpers, credentials))
  }
}

const nodeOf = ({ parameters = {}, onError }) => ({
  ...{ id: '2', name: 'Node', type: `${loader.packageName}.${Object.keys(loader.known.nodes)[0]}`, typeVersion: 1 },
  ...{ position: [0, 0], parameters, onError },
  credentials: { [credentialName]: { id: '1', name: 'Credential' } },
})

function workflowOf(nodes) {
  const connections = nodes.length < 2 ? {} : { Items: { main: [[{ node: 'Node', type: 'main', index: 0 }]] } }
  return new flow.Workflow({ id: '1', nodes, connections, active: false, nodeTypes, settings: {} })
}

function dataOf(workflow) {
  const hooks = new core.ExecutionLifecycleHooks('manual', '1', { id: '1', name: '', nodes: [], connections: {} })
  const urls = ['restApiUrl', 'instanceBaseUrl', 'webhookBaseUrl', 'webhookWaitingBaseUrl', 'formWaitingBaseUrl']
  return {
    ...Object.fromEntries(urls.map((name) => [name, 'http://localhost:5678'])),
    ...{ credentialsHelper: new Credentials(), hooks, currentNodeExecutionIndex: 0, variables: {}, executionId: '1' },
    ...{ workflowId: workflow.id, setExecutionStatus: () => undefined, logAiEvent: () => undefined },
  }
}

/** Runs a workflow of some items and the node; gives the items of its output and of its error output, or the error that ended it. */
async function run(call) {
  const before = {
    ...nodeOf({}),
    id: '1',
    name: 'Items',
    type: 'items',
    credentials: undefined,
    notes: call.items ?? [{}],
  }
  const workflow = workflowOf([before, nodeOf(call)])
  const execution = new core.WorkflowExecute(dataOf(workflow), 'manual')
  const { data } = await execution.run({ workflow, startNode: workflow.getNode('Items') })
  const { error, runData } = data.resultData
  if (error !== undefined) return { error: plainError(error) }
  const [items, failed = []] = runData.Node[0].data.main
  const plain = ({ json, pairedItem }) => ({ json, pairedItem })
  return { items: items.map(plain), failed: failed.map(plain) }
}

/** What a method gives that fills a list or fields of the node's form. */
async function load({ kind, method, args = [], ...call }) {
  const workflow = workflowOf([nodeOf(call)])
  const node = workflow.getNode('Node')
  const context = new core.LoadOptionsContext(workflow, node, dataOf(workflow), '')
  return { loaded: await nodeTypes.getByName(node.type).methods[kind][method].apply(context, args) }
}

/** Tests the credential as n8n does when somebody stores it. */
async function test({ credentials }) {
  const decrypted = {
    id: '1',
    name: 'Credential',
    type: credentialName,
    data: { ...stored, accessToken: '', ...credentials },
  }
  const node = { ...nodeOf({ parameters: { temp: '' } }), type: 'n8n-nodes-base.noOp' }
  const workflow = workflowOf([node])
  const input = { main: [[{ json: {} }]] }
  const execute = { node, data: input, source: null }
  const parts = ['internal', flow.createRunExecutionData(), 0, [], input, execute, []]
  const context = new core.ExecuteContext(workflow, node, dataOf(workflow), ...parts)
  await new core.RoutingNode(context, tester, decrypted).runNode()
  return { tested: true }
}

const plainError = ({ name, message, description, httpCode, context }) => ({
  ...{ name, message, description, httpCode, itemIndex: context?.itemIndex },
})

const results = []
for (const { does, ...call } of given.calls) {
  if (call.accessToken !== undefined) stored.accessToken = call.accessToken
  const before = renewals
  const result = await { run, load, test }[does](call).catch((error) => ({ error: plainError(error) }))
  results.push({ ...result, renewals: renewals - before })
}
// Its standard output is n8n's.
writeSync(3, JSON.stringify(results))
process.exit()
