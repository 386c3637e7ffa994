import type { Schemas } from '../api/client.ts'

type Language = Schemas['Process']['programmingLanguage']
type Input = Schemas['CreateProcessInput']

interface Template {
  key: string
  title: string
  /** What it shows, in a sentence. */
  about: string
  /** What a process that begins with it has beside its name and language. */
  input: Record<Language, Input>
}

const nameSchema = {
  type: 'object',
  properties: { name: { type: 'string', title: 'Name', default: 'world' } },
}

const greetingJs = `const { name = 'world' } = svc.context.parameters
console.log(\`Greeting \${name}\`)
return \`Hello \${name}\`
`

const greetingPy = `name = svc.context.parameters.get("name", "world")
print(f"Greeting {name}")
return f"Hello {name}"
`

const webhookJs = `// What the webhook returns is its answer; status and headers are optional.
const { request, parameters } = svc.context
console.log(\`\${request?.method ?? 'No request'}\`, parameters)
return { status: 200, headers: { 'Content-Type': 'application/json' }, body: { received: parameters } }
`

const webhookPy = `# What the webhook returns is its answer; status and headers are optional.
request = svc.context.request
print(request["method"] if request else "No request", svc.context.parameters)
return {
    "status": 200,
    "headers": {"Content-Type": "application/json"},
    "body": {"received": dict(svc.context.parameters)},
}
`

const fetchJs = `const { url = 'https://example.com' } = svc.context.parameters
const response = await fetch(url)
if (!response.ok) throw new Error(\`\${url} answered \${response.status}\`)
const text = await response.text()
console.log(\`\${url} answered \${response.status}\`)
return { status: response.status, length: text.length }
`

const fetchPy = `from urllib.request import urlopen

url = svc.context.parameters.get("url", "https://example.com")
with urlopen(url) as response:
    text = response.read().decode()
    print(f"{url} answered {response.status}")
return {"length": len(text)}
`

const urlSchema = {
  type: 'object',
  properties: { url: { type: 'string', title: 'Address', format: 'uri', default: 'https://example.com' } },
}

/** What a new process can begin with. */
export const templates: readonly Template[] = [
  {
    key: 'greeting',
    title: 'Parameters and a value',
    about: 'Reads a parameter, logs a line and returns a text.',
    input: {
      JAVASCRIPT: { sourceCode: greetingJs, parametersSchema: nameSchema },
      PYTHON: { sourceCode: greetingPy, parametersSchema: nameSchema },
    },
  },
  {
    key: 'webhook',
    title: 'A webhook that answers',
    about: 'Answers a request with JSON. Its webhook is on.',
    input: {
      JAVASCRIPT: { sourceCode: webhookJs, webhook: { enabled: true } },
      PYTHON: { sourceCode: webhookPy, webhook: { enabled: true } },
    },
  },
  {
    key: 'fetch',
    title: 'A call of another service',
    about: 'Fetches an address and fails where that does not answer well.',
    input: {
      JAVASCRIPT: { sourceCode: fetchJs, parametersSchema: urlSchema },
      PYTHON: { sourceCode: fetchPy, parametersSchema: urlSchema },
    },
  },
  {
    key: 'empty',
    title: 'Empty',
    about: 'Nothing but a value.',
    input: { JAVASCRIPT: { sourceCode: 'return null\n' }, PYTHON: { sourceCode: 'return None\n' } },
  },
]

const sampleJs = `// A sample: it writes a line each second and gives back what it has counted.
const { orders = 8 } = svc.context.parameters
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

console.log(\`\${orders} orders are to be checked\`)
let late = 0
for (let number = 1; number <= orders; number++) {
  await wait(1000)
  const isLate = number % 4 === 0
  if (isLate) {
    late += 1
    console.warn(\`Order \${number} is late\`)
  } else {
    console.log(\`Order \${number} is on its way\`)
  }
}
return { orders, late }
`

/** The process that a team without any tries first. */
export const sample: Input = {
  name: 'Sample',
  description: 'Shows a log that comes live, parameters and a value',
  programmingLanguage: 'JAVASCRIPT',
  sourceCode: sampleJs,
  parametersSchema: {
    type: 'object',
    properties: { orders: { type: 'integer', title: 'Orders', minimum: 1, maximum: 60, default: 8 } },
  },
  tags: ['sample'],
}
