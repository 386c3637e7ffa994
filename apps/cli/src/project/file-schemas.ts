/** A JSON Schema in the part of the language that `check-value.ts` knows. */
export interface Schema {
  type?: string | readonly string[]
  description?: string
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  pattern?: string
}

const text = (description: string): Schema => ({ type: 'string', description })
const flag = (description: string): Schema => ({ type: 'boolean', description })
const optionalText = (description: string): Schema => ({ type: ['string', 'null'], description })
const texts = (description: string): Schema => ({ type: 'array', items: { type: 'string' }, description })
const closed = (description: string, properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  description,
  properties,
  required,
  additionalProperties: false,
})
const mapOf = (description: string, additionalProperties: Schema): Schema => ({
  type: 'object',
  description,
  additionalProperties,
})

const secret = (description: string) =>
  closed(description, { env: { ...text('Name of the environment variable'), pattern: '^[A-Za-z_][A-Za-z0-9_]*$' } }, [
    'env',
  ])

const schedule = closed('When it runs: a cron expression or one time', {
  cron: text("Five fields, or six with seconds first, in the team's time zone"),
  dateTime: text('One time, RFC 3339 with an offset, such as 2027-01-31T08:00:00Z'),
  tag: optionalText('Version tag, alias or version id; else the current source'),
  parameters: { type: 'object', description: 'Parameters of each run', additionalProperties: true },
  comment: optionalText("Comment of each run; the schedule's name where absent"),
  paused: flag('Whether it fires'),
  allowConcurrentExecutions: flag('Whether a run may start while the one before goes on'),
  agentPool: optionalText('Slug of the pool of runners'),
  timeout: { type: ['integer', 'null'], description: 'How long a run may take, in milliseconds' },
  freshProcess: flag('Whether each run has a child of its own'),
})

const settings: Record<string, Schema> = {
  name: text('The name that people see; the slug where absent'),
  description: optionalText('One line for lists'),
  tags: texts('Tags; mcp-tool makes it a tool for assistants'),
  packages: mapOf('Packages of its own: names and versions', { type: 'string' }),
  dependencies: closed('Which packages its runs find', {
    scopedToProcess: flag('A set of its own; true where it has packages'),
    autoDetect: flag('Packages are found in the source when it is saved'),
  }),
  webhook: closed('Its address for calls from outside', {
    enabled: flag('Whether it may be called'),
    username: optionalText('User name of callers'),
    password: secret('Where the password of callers is'),
    allowedAddresses: texts('Addresses and CIDRs that it may be called from'),
  }),
  form: closed('Its form', {
    enabled: flag('Whether it has a form'),
    tag: optionalText('The version that the form runs'),
    frameAncestors: texts('Origins whose pages may show the form'),
    public: flag('Whether people without an account may use it by a link'),
    token: secret('Where the token of the link is; made by the server where absent'),
  }),
  schedules: mapOf('Schedules by name', schedule),
}

/** What process.yaml may have. */
export const processFileSchema: Schema = closed('A process', {
  ...settings,
  contexts: mapOf('What is otherwise in a context, by its name', closed('Only what differs', settings)),
})

/** What pas.yaml may have. */
export const projectFileSchema: Schema = closed(
  'A team as a repository',
  {
    layout: { type: 'integer', description: 'The form of this repository: 1' },
    contexts: mapOf(
      'Where the team is served',
      closed('A context', { url: text('Address of the service'), team: text('Slug of the team') }, ['url', 'team']),
    ),
    team: closed('Settings of the team; what is not named is left as it is', {
      zoneId: text('IANA name of the time zone of schedules'),
      errorHandler: {
        type: ['object', 'null'],
        description: 'The process that runs after each failed run; null: none',
        properties: { process: text('Slug'), tag: optionalText('Version tag, alias or id') },
        required: ['process'],
        additionalProperties: false,
      },
    }),
  },
  ['layout'],
)

const variable: Schema = {
  type: ['string', 'number', 'boolean', 'object'],
  properties: { env: text('Environment variable with the value of a sensitive one') },
  additionalProperties: false,
}

/** What variables.yaml may have. */
export const variablesFileSchema: Schema = {
  type: 'object',
  description: 'Variables of the team; { env: NAME } for sensitive ones',
  properties: { contexts: mapOf('What is otherwise in a context', mapOf('Variables', variable)) },
  additionalProperties: variable,
}
