import {
  NodeApiError,
  NodeConnectionTypes,
  NodeOperationError,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type JsonObject,
} from 'n8n-workflow'
import { executionProperties } from './execution-properties.ts'
import { operations } from './operations.ts'
import { readParameterFields, searchProcesses } from './process-choices.ts'
import { processProperties } from './process-properties.ts'

/** Runs processes, and looks after their executions. */
export class ProcessAutomation implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Process Automation',
    name: 'processAutomation',
    icon: { light: 'file:process-automation.svg', dark: 'file:process-automation.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Run processes and look after their executions',
    defaults: { name: 'Process Automation' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'processAutomationApi', required: true }],
    properties: [
      {
        displayName: 'Resource',
        name: 'resource',
        type: 'options',
        noDataExpression: true,
        options: [
          { name: 'Execution', value: 'execution' },
          { name: 'Process', value: 'process' },
        ],
        default: 'process',
      },
      ...processProperties,
      ...executionProperties,
    ],
  }

  methods = {
    listSearch: { searchProcesses },
    resourceMapping: { readParameterFields },
  }

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const given = this.getInputData()
    const made: INodeExecutionData[] = []
    for (let item = 0; item < given.length; item += 1) {
      const name = `${this.getNodeParameter('resource', item)}.${this.getNodeParameter('operation', item)}`
      try {
        const result = await operations[name]!(this, item)
        for (const json of [result].flat()) made.push({ json, pairedItem: { item } })
      } catch (error) {
        if (!this.continueOnFail()) {
          if (error instanceof NodeApiError) throw new NodeApiError(this.getNode(), error as unknown as JsonObject)
          throw new NodeOperationError(this.getNode(), error as Error, { itemIndex: item })
        }
        const { message, description } = error as NodeApiError
        // n8n knows a failed item by these two names, where it has no others.
        made.push({ json: { error: message, ...(description && { message: description }) }, pairedItem: { item } })
      }
    }
    return [made]
  }
}
