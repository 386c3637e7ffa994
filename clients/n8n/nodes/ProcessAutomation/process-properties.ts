import type { INodeProperties } from 'n8n-workflow'
import { limit, returnAll } from './list-properties.ts'

const starts = { show: { resource: ['process'], operation: ['runAndWait', 'start'] } }
const lists = { show: { resource: ['process'], operation: ['getAll'] } }

export const processProperties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['process'] } },
    options: [
      {
        name: 'Get Many',
        value: 'getAll',
        description: 'List processes',
        action: 'Get many processes',
      },
      {
        name: 'Run and Wait',
        value: 'runAndWait',
        description: 'Start a run, wait for its end and give its value',
        action: 'Run a process and wait for its value',
      },
      {
        name: 'Start',
        value: 'start',
        description: 'Start a run and give the ID of its execution at once',
        action: 'Start a process',
      },
    ],
    default: 'runAndWait',
  },
  {
    displayName: 'Process',
    name: 'process',
    type: 'resourceLocator',
    default: { mode: 'list', value: '' },
    required: true,
    displayOptions: starts,
    modes: [
      {
        displayName: 'From List',
        name: 'list',
        type: 'list',
        typeOptions: { searchListMethod: 'searchProcesses', searchable: true },
      },
      {
        displayName: 'By Slug or ID',
        name: 'slug',
        type: 'string',
        placeholder: 'e.g. greeting',
      },
    ],
  },
  {
    displayName: 'Specify Parameters',
    name: 'specifyParameters',
    type: 'options',
    noDataExpression: true,
    displayOptions: starts,
    options: [
      { name: 'Using Fields', value: 'fields', description: 'A field for each parameter that the process describes' },
      { name: 'Using JSON', value: 'json' },
    ],
    default: 'json',
  },
  {
    displayName: 'Parameters (JSON)',
    name: 'parametersJson',
    type: 'json',
    default: '{}',
    displayOptions: { show: { ...starts.show, specifyParameters: ['json'] } },
    description: 'What the process is given, as a JSON object',
  },
  {
    displayName: 'Parameters',
    name: 'parameterFields',
    type: 'resourceMapper',
    noDataExpression: true,
    default: { mappingMode: 'defineBelow', value: null },
    displayOptions: { show: { ...starts.show, specifyParameters: ['fields'] } },
    typeOptions: {
      loadOptionsDependsOn: ['process.value'],
      resourceMapper: {
        resourceMapperMethod: 'readParameterFields',
        mode: 'add',
        fieldWords: { singular: 'parameter', plural: 'parameters' },
        addAllFields: true,
        supportAutoMap: false,
      },
    },
  },
  {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    placeholder: 'Add option',
    default: {},
    displayOptions: starts,
    options: [
      {
        displayName: 'Agent Pool',
        name: 'agentPoolSlug',
        type: 'string',
        default: '',
        description: 'Slug of the pool whose runners run it',
      },
      {
        displayName: 'Callback URL',
        name: 'callbackUrl',
        type: 'string',
        default: '',
        placeholder: '={{ $execution.resumeUrl }}',
        description: 'Gets the outcome by POST when the run has ended, such as the URL of a Wait node of this workflow',
      },
      {
        displayName: 'Comment',
        name: 'comment',
        type: 'string',
        default: '',
        description: 'Stands in the record of the execution',
      },
      {
        displayName: 'Fresh Process',
        name: 'freshProcess',
        type: 'boolean',
        default: false,
        description: 'Whether the run gets an operating system process of its own',
      },
      {
        displayName: 'Idempotency Key',
        name: 'idempotencyKey',
        type: 'string',
        default: '',
        placeholder: 'e.g. order-1042',
        description:
          'The same key gives the same run for 24 hours, so that a node that is tried again starts nothing twice. It must differ between items.',
      },
      {
        displayName: 'Run Timeout (Ms)',
        name: 'timeoutMs',
        type: 'number',
        typeOptions: { minValue: 100 },
        default: 30000,
        description: 'How long the run may take, in milliseconds',
      },
      {
        displayName: 'Version',
        name: 'tag',
        type: 'string',
        default: '',
        placeholder: 'e.g. live',
        description: 'Tag or ID of a version, or an alias. The current source where it is empty.',
      },
      {
        displayName: 'Wait at Most (Seconds)',
        name: 'waitSeconds',
        type: 'number',
        typeOptions: { minValue: 1 },
        default: 3600,
        displayOptions: { show: { '/operation': ['runAndWait'] } },
        description:
          'How long the node waits for the end of the run, which goes on when the node gives up. It is waited for in steps of what the service waits, 55 s by default, and the last step is not cut short.',
      },
    ],
  },
  { ...returnAll, displayOptions: lists },
  { ...limit, displayOptions: { show: { ...lists.show, returnAll: [false] } } },
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    placeholder: 'Add filter',
    default: {},
    displayOptions: lists,
    options: [
      {
        displayName: 'Keywords',
        name: 'keywords',
        type: 'string',
        default: '',
        description: 'Part of the name or the description',
      },
      {
        displayName: 'Tags',
        name: 'tags',
        type: 'string',
        default: '',
        description: 'Separated by commas; any of them matches',
      },
    ],
  },
]
