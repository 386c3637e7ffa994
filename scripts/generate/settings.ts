/** A group of settings in docs/reference/configuration.md. */
export interface SettingGroup {
  title: string
  /** What is said of all of them. */
  about?: string
  /** What each setting means, by its name. With `default` where what the code reads without it depends on the machine. */
  settings: Record<string, string | { default: string; text: string }>
}

/** Every setting that a program reads. `npm run generate` refuses one that is missing here, and one that nothing reads. */
export const groups: SettingGroup[] = [
  {
    title: 'Addresses and folders',
    settings: {
      PORT: 'where the gateway listens',
      HOST: { default: 'every address', text: 'the address that the gateway listens on' },
      PUBLIC_URL: {
        default: '`http://localhost:PORT`',
        text: 'the address in links and Location headers; may have a path that [a proxy](../guides/operating/proxies.md#below-a-path) takes away',
      },
      CONSOLE_PORT: {
        default: '`PORT` + 3',
        text: 'where the gateway listens for the [console](../guides/console.md); with `PORT` 0 a free one',
      },
      CONSOLE_URL: {
        default: '`http://localhost:CONSOLE_PORT`',
        text: 'the origin at which browsers reach the console: another one than that of `PUBLIC_URL`',
      },
      CONSOLE_ENABLED: 'whether there is a console',
      INTERNAL_HOST:
        'the address that is for other services and for operators alone: gRPC between services, health and metrics',
      HEALTH_PORT:
        'where `/livez`, `/readyz` with details and `/metrics` are. With `npm start` a free port is taken and reported where `PORT` is 0 or another system has 9200',
      DATA_DIR: 'all that is kept: database, keys, the first token; one system at a time holds it',
      DATABASE_URL: {
        default: 'the embedded PostgreSQL',
        text: 'a PostgreSQL of your own; with `?pgbouncer=true` through PgBouncer in transaction mode',
      },
      HEADER_PREFIX: "prefix of the service's own headers",
      LOG_LEVEL:
        'how much is logged, as JSON lines on standard error; where it is not set and that is a terminal, `npm start` shows dots in their place until it is up',
      OTEL_EXPORTER_OTLP_ENDPOINT:
        'where traces are sent over OTLP/HTTP, such as `http://collector:4318`. A caller that asks by `traceparent` not to be traced is not; what the collector does not take is given up',
      OTEL_EXPORTER_OTLP_HEADERS:
        'headers with which traces are sent, such as `Authorization=Bearer%20TOKEN`: `name=value`, separated by commas, what is special in values percent-encoded. Better from a file, as `OTEL_EXPORTER_OTLP_HEADERS_FILE`',
      SHUTDOWN_GRACE_MS:
        'what running work gets when the service is told to stop; runs get 2.5 s less, in which a runner ends those that still run and has their results stored. A second signal, a second or more later, stops at once',
    },
  },
  {
    title: 'First team, tokens and keys',
    settings: {
      BOOTSTRAP_TEAM: 'the team that the first start makes',
      BOOTSTRAP_API_TOKEN: {
        default: 'generated',
        text: "that team's API token: `sk-` and the base64 of `sa-<team>-<8 of a-z, 0-9>:<secret>`. A generated one is shown once and kept in `DATA_DIR/bootstrap-token` (mode 0600); process-catalog by itself makes none",
      },
      ENCRYPTION_KEY: {
        default: 'generated into `DATA_DIR`',
        text: 'encrypts stored secrets; several, separated by commas, for [rotation](../guides/operating/key-rotation.md): the first encrypts, all decrypt',
      },
      INTERNAL_KEY: {
        default: 'generated into `DATA_DIR`',
        text: 'signs calls between services; several, separated by commas or lines, for [rotation](../guides/operating/key-rotation.md#changing-internal_key-or-runner_key): the first signs, all verify. At least 32 characters each. The gateway may have a [key of its own](../guides/operating/key-rotation.md#the-gateways-own-key), and so may [operators](../guides/operating/key-rotation.md#keys-of-operators)',
      },
      RUNNER_KEY: {
        default: 'made from `INTERNAL_KEY`',
        text: 'what runners sign with, and what the key of each runner pod is made of, which is all that the pod has; several as with `INTERNAL_KEY`',
      },
      INTERNAL_TLS_DIR:
        'a folder with `ca.crt`, `tls.crt` and `tls.key`, for [mutual TLS between services](../guides/operating/internal-tls.md); absent: they speak without TLS',
      ACCESS_TOKEN_TTL_S: 'how long an access token is valid',
      OIDC_ISSUER: 'an issuer whose tokens are accepted too: https, or on this machine; their `groups` name the teams',
      OIDC_GROUPS_PREFIX:
        'what the groups that name teams begin with, such as `automation-team-`: the slug is what comes behind it, and groups without it name no team',
      OIDC_AUDIENCE: 'the audience that these tokens must have',
      OIDC_JWKS_URL: 'where the keys of the issuer are: https, or on this machine',
      OIDC_CLIENT_ID: 'as what the [console](../guides/console.md) signs people in at the issuer; absent: it does not',
      OIDC_CLIENT_SECRET: 'the secret of that client',
      OIDC_SCOPES:
        'what claims of these tokens mean: `claim:value=scopes` or, for one team, `claim:value=scopes@team`, with commas between, such as `scope:reports=read,groups:demo-ops=executor admin@demo`; a rule without a team holds in every team that the token names; without it only the scope `executor` counts',
    },
  },
  {
    title: 'Runs',
    settings: {
      RUN_TIMEOUT_MS: 'time of a run',
      RUN_TIMEOUT_MAX_MS: 'the most that a caller may ask for',
      RUN_MEMORY_MB:
        'memory of one run with all its processes. Not counted: the files of its private folder (`RUN_TMP_MB`), and what lies in its sockets and pipes (usual buffers in at most 2048 open files, 1024 for one process: some 500 MB; of TCP on the network of the host what the kernel allows)',
      RUN_TMP_MB: 'what the private folder of a run may hold',
      SYNC_WAIT_MAX_MS:
        'how long a synchronous call waits for its run: less than the 60 s after which many clients give up, so that they get 408 with the id',
      WAITING_STATUS:
        'what records and lists show of runs that wait for a slot. With `CREATED`, clients that take QUEUED for an end wait on. Timeline, events and explanations say QUEUED all the same, and the status filter finds these runs by both words',
      LOG_MAX_LINES: 'lines of the log of a run; then one line says that the rest was dropped',
      LOG_MAX_BYTES: 'bytes of the log of a run, in UTF-8; then the same',
      RETENTION_DAYS: 'how long executions and their logs are kept',
      AUDIT_RETENTION_DAYS: 'how long audit events are kept; they go by whole months',
      AGENT_POOLS: 'the pools that exist',
      CODE_GLOBAL_ALIAS: 'a second name for the global `svc` and its package',
    },
  },
  {
    title: 'Limits of requests',
    settings: {
      BODY_MAX_BYTES:
        'of one request body; as JSON, in which processes get it, that of a webhook or a form may be twice as large; beyond: 413. All bodies in flight at a gateway hold four times as much at most, or 128 MiB (some 2.5 times as much memory); beyond: 503 with Retry-After',
      PARAMETERS_MAX_BYTES: 'of the parameters of a run; beyond: 413',
      RETURN_VALUE_MAX_BYTES: 'of the value of a run',
      UPLOAD_MAX_BYTES: 'of one object; beyond: 413',
      CORS_ORIGINS: 'origins of pages that browsers may call from; `*` for all',
      TRUSTED_PROXIES:
        'addresses or CIDRs of [proxies](../guides/operating/proxies.md) whose X-Forwarded-For is believed',
      WEBHOOK_DOMAIN:
        "with it each team's webhooks are also at `<team>.<domain>/api/<team>/webhooks/…`, and nothing else is there: pages of a process get what its own Content-Security-Policy says, without the sandbox that answers on the gateway's own host always have. A proxy in front passes the Host header on",
    },
  },
  {
    title: 'Limits of a team',
    settings: {
      TEAM_MAX_RUNNING: 'runs at a time; beyond, runs wait',
      TEAM_MAX_QUEUED: 'runs that wait; beyond, runs are rejected',
      TEAM_MAX_STORAGE_BYTES: 'all objects and sets of packages together; beyond: 413',
      TEAM_MAX_SANDBOXES: 'sandboxes at a time; beyond: 429',
      TEAM_LIMITS:
        'how many things of a kind there may be: `kind=number`, separated by commas; kinds left out keep their default. `definitions`: processes, modules and variables, of each so many; `versions`: versions and aliases of one process or module, of each so many; `schedules`; `objects`, with the parts of uploads that are not completed; beyond each of these: 400 `limit_reached`. `datastoreKeys`: keys of `svc.datastore`; beyond: 413. `streams`: live streams at each gateway; beyond: 429, and 503 beyond ten times as many of all teams. `callsPerSecond`: REST calls a second of a team, and as many webhooks; beyond: 429; 0 is no limit; the process-catalog must have it, too. `databaseBytes`: bytes of the database that executions take; beyond, [nothing new runs](../guides/teams.md#limits); 0 is no limit',
    },
  },
  {
    title: 'Isolation and the network of runs',
    settings: {
      ISOLATION: '`namespaces`, `pod` or `none`; `auto` takes the best that holds',
      ISOLATION_NETWORK: '`own` or `host` (sandboxes then have their loopback alone); `auto` takes what is there',
      ISOLATION_MANY_TEAMS:
        'several teams on a runner, or with sandboxes on a machine, whose isolation does not separate them or gives runs the network of the host',
      EGRESS_ALLOW:
        'private address ranges (CIDRs) that callback addresses may name and that runs with a network of their own may reach',
      RUNNER_CLOSED_PORTS: {
        default: 'those of the service',
        text: 'TCP ports that no run on the network of the host may connect to',
      },
    },
  },
  {
    title: 'Objects',
    settings: {
      S3_ENDPOINT: { default: 'none: the disk', text: 'an S3 server for objects' },
      S3_BUCKET: 'its bucket, which must be there',
      S3_ACCESS_KEY: 'a key of that server',
      S3_SECRET_KEY: 'the secret of that key',
      S3_REGION: 'its region',
      S3_PUBLIC_ENDPOINT: { default: '`S3_ENDPOINT`', text: 'where users reach the same server; links lead there' },
    },
  },
  {
    title: 'Events',
    settings: {
      KAFKA_BROKERS: {
        default: 'none: events stay in the service',
        text: 'publish lifecycle events to Kafka: `host:port`, several separated by commas',
      },
      KAFKA_TOPIC:
        'no other system may have it; with `CELL` the default has a dot and the cell behind it. One that is there is used as it is; one that is missing is made with 6 partitions and up to 3 replicas, of which 2 must be in sync where there are 3, and keeps messages for 7 days',
      KAFKA_CONFIG: {
        default: 'none: no TLS and no password',
        text: "how the service signs in at the brokers, as the properties of Kafka's own clients: `security.protocol`, `sasl.mechanism`, … ([all of them](../guides/events.md#a-broker-with-tls-and-passwords))",
      },
    },
  },
  {
    title: 'Packages',
    about:
      'No other setting of npm or pip on the machine counts. The authorities in the file that `NODE_EXTRA_CA_CERTS` or `SSL_CERT_FILE` names are trusted for both registries and for git.',
    settings: {
      NPM_REGISTRY: {
        default: "npm's own",
        text: 'the registry of npm packages; a token, or a name and a password, stand before its host: `https://TOKEN@registry.example.com/npm/`',
      },
      PYPI_INDEX_URL: {
        default: "pip's own",
        text: 'the index of Python packages. It may hold a name and a password, and no Python package comes from git then; one with http is believed unchecked',
      },
      PYTHON_IMPORTS:
        'packages of PyPI by the name that they are imported by, where that is another one: `Crypto=pycryptodome`, separated by commas, beside [those that are known](../guides/packages.md)',
      DEPENDENCIES_ALLOW_GIT: 'https git URLs as versions, where the runner has git',
      DEPENDENCIES_MAX_MB:
        'what one set of packages may hold, for storage and runners alike; a runner keeps six times that, or the sets in use where these take more',
    },
  },
  {
    title: 'Sandboxes',
    settings: {
      SANDBOX_DRIVER: 'where sandboxes run: `local` or `kubernetes`',
      SANDBOX_IMAGES: {
        default: 'the image `base`',
        text: 'the file with the [images](../guides/sandboxes.md#images) that there are, which `kubernetes` needs',
      },
      SANDBOX_PUBLIC_PORT: {
        default: '`PORT` + 1',
        text: 'where the gateway listens for public ports; with `PORT` 0 a free one',
      },
      SANDBOX_GRPC_PORT: {
        default: '`PORT` + 2',
        text: 'where the gateway listens for gRPC of sandboxes; with `PORT` 0 a free one',
      },
      SANDBOX_PUBLIC_DOMAIN:
        'every public port becomes a host of its own, `<port>-<sandbox id>.<domain>`; without, a path, and all sandboxes share one origin in browsers: where there are several teams, the start warns',
      SANDBOX_URLS: {
        default: '`http://`, the host of `PUBLIC_URL` and the port of each',
        text: 'where sandboxes are reached from outside, such as `public=https://sandboxes.example.com,grpc=https://grpc.example.com` where an ingress ends TLS: their public ports, and gRPC. With `SANDBOX_PUBLIC_DOMAIN` scheme and port of `public` hold for its hosts, by default those of a `PUBLIC_URL` that names no port',
      },
      SANDBOX_GRPC_TLS_DIR:
        'a folder with a certificate, `tls.crt`, and its key, `tls.key`, in PEM: the gRPC port speaks TLS itself, and `grpcServerUrl` is an `https` address; read at the start',
    },
  },
  {
    title: 'Runners',
    settings: {
      RUNNER_POOL: 'the pool of a runner',
      RUNNER_LABELS:
        'what a runner says of itself, `name=value`, separated by commas: a [pool of a team](../guides/operating/outside-runners.md) may want some',
      RUNNER_URL: {
        default: 'none: the services are in its network',
        text: 'the address at which a gateway serves [runners of other networks](../guides/operating/outside-runners.md), such as `https://runners.example.com`; https, or on this machine',
      },
      RUNNER_TOKEN: {
        default: 'none',
        text: 'the token of a pool, beside `RUNNER_URL` and in place of `RUNNER_KEY` and `RUNNER_POOL`; better from a file, as `RUNNER_TOKEN_FILE`',
      },
      RUNNERS_PORT: {
        default: 'none: there is no such port',
        text: 'where the gateway listens for runners of other networks, gRPC; 0 for a free one',
      },
      RUNNERS_TLS_DIR: {
        default: 'none: without TLS, behind what ends it',
        text: 'a folder with a certificate, `tls.crt`, and its key, `tls.key`, in PEM, with which that port speaks TLS itself; read at the start',
      },
      RUNNER_SLOTS: 'runs that it takes at once',
      RUNNER_CHILDREN_MEMORY_MB: {
        default: "half of the machine's, or of the container's limit",
        text: 'memory of the processes of all children together, without what `RUN_MEMORY_MB` does not count',
      },
      RUNNER_PYTHON: 'the Python that starts children',
      RUNNER_DEPENDENCIES_DIR: {
        default: '`DATA_DIR/packages`; of a runner by itself a folder below the temporary one',
        text: 'where a runner keeps sets of packages',
      },
      RUNNER_LEASE_MS: 'how long a silent runner is believed to live',
      RUNNER_POD:
        'what the sandbox service tells the runner pods that it makes, and nobody else sets: `name`, `maxPerTeam`, `idleMs`',
    },
  },
  {
    title: 'Services of their own',
    about: 'Where the others are found, and where a service is found by them.',
    settings: {
      SERVICE_ADDRESSES: {
        default: '`127.0.0.1` and the ports of `SERVICE_PORTS`',
        text: 'where services are: `name=host:port`, separated by commas, of `catalog`, `execution`, `storage`, `sandbox`, `scheduler`; a name leads to all replicas of its service and is looked up again every 5 s, or a service has several entries. `execution@blue` is that of the [cell](../guides/operating/cells.md) `blue`. The services of one machine that are started together take those of `execution` alone',
      },
      CELL: {
        default: 'the first one',
        text: 'the name of the [cell](../guides/operating/cells.md) that this execution service is of',
      },
      SERVICE_PORTS:
        'ports of services on this machine, `name=port`, separated by commas: those of gRPC by the names above, and those of health and metrics',
    },
  },
  {
    title: 'The sandbox service on Kubernetes',
    about: 'The chart sets these. `KUBECONFIG` names the cluster where the service does not run in one.',
    settings: {
      KUBERNETES_PODS: {
        default: 'none',
        text: 'a JSON file: where pods are made (`namespace`, by default that of the service account), the name of the installation that they are labelled with (`instance`, process-automation), the ConfigMap in that namespace that they belong to and go with (`owner`), the nodes that they run on (`placement` with `nodeSelector`, `tolerations`, `affinity`, `priorityClassName` as in a pod), the Secrets by which the registry lets in for runners and for images of the catalogue (`pullSecrets`), the user and group of their containers (`runAsUser`, 1000). With `runners` it makes runners on the cluster, one for a team each: `image`; pods kept for teams that have none (`spare`, 1), pods in all (`max`, 10), of one team (`maxPerTeam`, 3); when an idle pod goes (`idleMs`, 60000), when one that execution does not know is given up (`startTimeoutMs`, 120000); cores that a pod asks for (`cpu`, 250m), memory that it asks for and may take (`memory`, 2Gi), what else it asks for (`resources` with `requests` and `limits`), what its private folders may hold in all (`tmpMb`, 4096), and its sets of packages (`packagesMb`, 4096); `pullPolicy`, `serviceAccount`, `runtimeClassName` as in a pod; `placement` and `metadata` of runners alone; further settings of the runners (`settings`): `{"RUNNER_SLOTS": "16"}`, variables of which these may speak (`variables`, as in a container), and settings that they have as files of a Secret in the namespace of the pods (`secret` with `name` and `settings`, its keys)',
      },
    },
  },
]
