import type { INodeProperties } from 'n8n-workflow'
import { limit, returnAll } from './list-properties.ts'

const show = (...operations: string[]) => ({ show: { resource: ['execution'], operation: operations } })
const paged = show('getAll', 'getLogs')

const statuses = ['CREATED', 'QUEUED', 'DEQUEUED', 'RUNNING', 'FINISHED', 'ERROR', 'KILLED', 'REJECTED']
const levels = ['DEBUG', 'INFO', 'WARNING', 'ERROR']

export const executionProperties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['execution'] } },
    options: [
      { name: 'Get', value: 'get', description: 'Read the record of a run', action: 'Get an execution' },
      {
        name: 'Get Logs',
        value: 'getLogs',
        description: 'Read what a run has logged',
        action: 'Get the logs of an execution',
      },
      {
        name: 'Get Many',
        value: 'getAll',
        description: 'List executions, newest first',
        action: 'Get many executions',
      },
      { name: 'Kill', value: 'kill', description: 'End a run that has not ended', action: 'Kill an execution' },
    ],
    default: 'get',
  },
  {
    displayName: 'Execution ID',
    name: 'executionId',
    type: 'string',
    default: '',
    required: true,
    displayOptions: show('get', 'getLogs', 'kill'),
  },
  { ...returnAll, displayOptions: paged },
  { ...limit, displayOptions: { show: { ...paged.show, returnAll: [false] } } },
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    placeholder: 'Add filter',
    default: {},
    displayOptions: show('getAll'),
    options: [
      {
        displayName: 'From',
        name: 'from',
        type: 'dateTime',
        default: '',
        description: 'Only what was started at this time or later',
      },
      {
        displayName: 'Status',
        name: 'status',
        type: 'multiOptions',
        options: statuses.map((status) => ({ name: status, value: status })),
        default: [],
        description: 'Any of them matches',
      },
      {
        displayName: 'To',
        name: 'to',
        type: 'dateTime',
        default: '',
        description: 'Only what was started before this time',
      },
      {
        displayName: 'Words',
        name: 'q',
        type: 'string',
        default: '',
        description: 'Each of them a part of the parameters, of the value or of the error',
      },
    ],
  },
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    placeholder: 'Add filter',
    default: {},
    displayOptions: show('getLogs'),
    options: [
      {
        displayName: 'Contains',
        name: 'contains',
        type: 'string',
        default: '',
        description: 'Part of the message',
      },
      {
        displayName: 'Level',
        name: 'level',
        type: 'multiOptions',
        options: levels.map((level) => ({ name: level, value: level })),
        default: [],
        description: 'Any of them matches',
      },
    ],
  },
]
