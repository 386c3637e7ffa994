import { parseArgs } from 'node:util'

const help = `npm run test:cluster [-- OPTIONS]

Installs the chart on the cluster that KUBECONFIG names, and tries what is promised there: \`helm test\`, the suite over REST
with two teams, what user code reaches over the network, what monitoring finds, a pod of each service killed while runs go on, an upgrade between
two builds under load, and an uninstall that leaves nothing. In two namespaces of its own, on the database and brokers that
the environment names as pods reach them.

  --tag TAG         of the images that the nodes have
  --next-tag TAG    of those that the upgrade goes to; without, the upgrade goes to the same images
  --registry HOST   of both (localhost)
  --only A,B        of install, test, network, monitoring, suite, kills, upgrade, uninstall; install and uninstall always
  --rate N          calls a second during the upgrade (50)
  --set NAME=VALUE  more values of the chart; may be given several times
  --keep            leaves the release and its namespace
  --report FILE     also writes the counts as JSON
  --help

KUBECONFIG, DATABASE_URL (an empty database) and, where events go to Kafka, KAFKA_BROKERS; for storage S3_ENDPOINT, S3_BUCKET,
S3_ACCESS_KEY and S3_SECRET_KEY. Wants helm and kubectl.
`

export interface ClusterOptions {
  tag: string
  nextTag: string | undefined
  registry: string
  only: string[] | undefined
  ratePerS: number
  set: string[]
  keep: boolean
  report: string | undefined
}

/** The options of the command line; undefined where it asks for help or is wrong, which it then says. */
export function readOptions(args: string[]): ClusterOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      tag: { type: 'string' },
      'next-tag': { type: 'string' },
      registry: { type: 'string', default: 'localhost' },
      only: { type: 'string' },
      rate: { type: 'string', default: '50' },
      set: { type: 'string', multiple: true, default: [] },
      keep: { type: 'boolean', default: false },
      report: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(help)
    return undefined
  }
  const missing = ['KUBECONFIG', 'DATABASE_URL'].filter((name) => !process.env[name])
  if (values.tag === undefined) missing.push('--tag')
  if (missing.length > 0) {
    process.stderr.write(`missing: ${missing.join(', ')}\n\n${help}`)
    process.exitCode = 2
    return undefined
  }
  return {
    tag: values.tag!,
    nextTag: values['next-tag'],
    registry: values.registry,
    only: values.only?.split(','),
    ratePerS: Number(values.rate),
    set: values.set,
    keep: values.keep,
    report: values.report,
  }
}
