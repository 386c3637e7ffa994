import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  component,
  foldersOf,
  podOf,
  podSettings,
  full,
  isThere,
  minimal,
  render,
  secretsOf,
  valuesFiles,
  type Manifest,
  type PodSpec,
} from '../charts/render.ts'

const templateOf = (manifest: Manifest) => (manifest['spec'] as { template: Manifest }).template

// Without helm there is nothing to try; `npm run check` says so.
describe.runIf(isThere('helm'))('the chart', () => {
  test.each(valuesFiles)('makes pods of the restricted level only, with requests and limits: %s', async (values) => {
    const pods = (await render(values)).flatMap(podOf)
    expect(pods.length).toBeGreaterThan(4)
    for (const pod of pods) {
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.resources.limits['memory'], container.name).toBeDefined()
        expect(container.image).not.toMatch(/:latest$|:$/)
      }
    }
  })

  test('gives rights on the cluster to the sandbox service alone, in one namespace: on pods, and to make their Secrets', async () => {
    const manifests = await render(full)
    const mounted = manifests.filter((manifest) => podOf(manifest).some((pod) => pod.automountServiceAccountToken))
    expect(mounted.map(component)).toEqual(['sandbox'])
    expect(manifests.filter(({ kind }) => kind.startsWith('Cluster'))).toEqual([])
    const roles = manifests.filter(({ kind }) => kind === 'Role')
    expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(['sandboxes'])
    const rules = roles[0]!['rules'] as { resources: string[]; verbs: string[] }[]
    expect(rules.flatMap(({ verbs }) => verbs)).not.toContain('*')
    const onSecrets = rules.filter(({ resources }) => resources.includes('secrets'))
    expect(onSecrets.flatMap(({ verbs }) => verbs)).toEqual(['create'])
  })

  test('puts no secret into the specification of a pod', async () => {
    const manifests = await render(minimal, ['database.url=postgres://user:the-password@db:5432/a'])
    const pods = manifests.filter((manifest) => podOf(manifest).length > 0)
    expect(JSON.stringify(pods)).not.toContain('the-password')
    for (const { env } of pods.flatMap(podOf).flatMap(({ containers }) => containers))
      expect(env.filter(({ name }) => /^(DATABASE_URL|\w+_KEY|\w+_TOKEN|\w+_PASSWORD)$/.test(name))).toEqual([])
  })

  test('gives the gateway a key of its own, and the services what verifies it beside the key that they share', async () => {
    const manifests = await render(minimal)
    const keyIn = (end: string) => {
      const secret = manifests.find(({ kind, metadata }) => kind === 'Secret' && metadata.name.endsWith(end))!
      return Buffer.from((secret['data'] as Record<string, string>)['INTERNAL_KEY']!, 'base64').toString()
    }
    const [, privateHalf = ''] = /^gateway:private:(\S+)$/.exec(keyIn('-gateway')) ?? []
    const [, publicHalf = ''] = /^\w{48},gateway:certificate:(\S+)$/.exec(keyIn('-keys')) ?? []
    const own = createPrivateKey({ key: Buffer.from(privateHalf, 'base64'), format: 'der', type: 'pkcs8' })
    expect(new X509Certificate(Buffer.from(publicHalf, 'base64')).publicKey.equals(createPublicKey(own))).toBe(true)
    const holders = manifests.filter((manifest) =>
      podOf(manifest).some((pod) => secretsOf(pod).some(({ name }) => name.endsWith('-gateway'))),
    )
    expect(holders.map(component)).toEqual(['gateway'])
    const others = podOf(manifests.find((each) => component(each) === 'gateway' && podOf(each).length > 0)!)
    expect(others.flatMap(secretsOf).map(({ name }) => name)).not.toContain('release-process-automation-keys')
  })

  test('gives a further cell an execution service and runners of its own, on the database that its Secret names', async () => {
    const manifests = await render(full, ['cells.blue.existingSecret=blue-database', 'cells.blue.topic=of-blue'])
    const podNamed = (name: string) =>
      podOf(manifests.find((each) => each.kind === 'Deployment' && component(each) === name)!)[0]!
    const envOf = (name: string) =>
      Object.fromEntries(podNamed(name).containers[0]!.env.map((each) => [each.name, each.value ?? '']))
    const addresses = (name: string) => (envOf(name)['SERVICE_ADDRESSES'] ?? '').split(',')
    const own = 'execution=release-process-automation-execution-blue-replicas.automation.svc:9102'
    expect(addresses('execution-blue')).toContain(own)
    expect(addresses('runner-blue')).toEqual([own, expect.stringMatching(/^storage=/)])
    for (const name of ['gateway', 'process-catalog', 'scheduler'])
      expect(addresses(name)).toContain(own.replace('execution=', 'execution@blue='))
    expect(addresses('execution')).not.toContain(own)
    expect(envOf('execution-blue')).toMatchObject({ CELL: 'blue', KAFKA_TOPIC: 'of-blue' })
    const databaseOf = (name: string) =>
      secretsOf(podNamed(name)).find(({ items }) => items.some(({ path }) => path === 'DATABASE_URL'))?.name
    expect(databaseOf('execution-blue')).toBe('blue-database')
    expect(databaseOf('execution')).toBe('postgres')
    const migrations = podOf(manifests.find((each) => component(each) === 'migrations' && each.kind === 'Job')!)[0]!
    expect(migrations.containers.map(({ name }) => name)).toContain('execution-blue')
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map((each) => JSON.stringify(each))
    expect(policies.filter((text) => text.includes('"execution"') !== text.includes('"execution-blue"'))).toEqual([])
  })

  test("gives each cell a topic of its own, whether one is named or not, and refuses one that is another's", async () => {
    const topicsOf = async (...sets: string[]) =>
      (await render(minimal, ['kafka.brokers[0]=kafka:9092', 'cells.blue.existingSecret=blue', ...sets]))
        .flatMap(podOf)
        .flatMap(({ containers }) => containers.flatMap(({ env }) => env ?? []))
        .filter(({ name }) => name === 'KAFKA_TOPIC')
        .map(({ value }) => value)
    expect(await topicsOf()).toEqual(['process-automation.executions.blue'])
    expect(new Set(await topicsOf('kafka.topic=mine'))).toEqual(new Set(['mine', 'mine.blue']))
    const elsewhere = ['kafka.brokers=null', 'settings.KAFKA_BROKERS=kafka:9092', 'settings.KAFKA_TOPIC=mine']
    expect(await topicsOf(...elsewhere)).toContain('mine.blue')
    const two = ['cells.green.existingSecret=green', 'cells.green.topic=one']
    await expect(topicsOf(...two, 'cells.blue.topic=one')).rejects.toThrow('one is the topic of another cell')
    await expect(topicsOf(...two, 'kafka.topic=one')).rejects.toThrow('one is the topic of another cell')
  })

  test.each([
    [['runners.pool.spare=5', 'runners.pool.max=2'], 'runners.pool.spare'],
    [['runners.pool.max=1001'], 'runners'],
    [['keys.existingGatewaySecret=gateway'], 'keys.existingSecret'],
  ])('refuses %j', async (sets, named) => {
    await expect(render(minimal, sets)).rejects.toThrow(named)
  })

  test('gives a service the database address under its own key, in its pods and for its migrations', async () => {
    const manifests = await render(full, ['database.keys.scheduler=of-scheduler'])
    const keysOf = (pod: PodSpec) =>
      secretsOf(pod).flatMap(({ items }) => items.filter(({ path }) => path === 'DATABASE_URL').map(({ key }) => key))
    const podNamed = (name: string, kind = 'Deployment') =>
      podOf(manifests.find((each) => each.kind === kind && component(each) === name)!)[0]!
    expect(keysOf(podNamed('scheduler'))).toEqual(['of-scheduler'])
    expect(keysOf(podNamed('execution'))).toEqual(['uri'])
    const migrations = podNamed('migrations', 'Job')
    const keyOfVolume = new Map(migrations.volumes.map(({ name, secret }) => [name, secret?.items?.[0]?.key]))
    const keyFor = Object.fromEntries(
      migrations.containers.map(({ name, volumeMounts = [] }) => [name, keyOfVolume.get(volumeMounts[0]!.name)]),
    )
    expect(keyFor).toMatchObject({ scheduler: 'of-scheduler', execution: 'uri', sandbox: 'uri' })
    await expect(render(minimal, ['database.keys.scheduler=x'])).rejects.toThrow('database.existingSecret')
    await expect(render(full, ['database.keys.gateway=x'])).rejects.toThrow('gateway')
  })

  test('has services show certificates to each other where all have one, and refuses to leave one out', async () => {
    const names = ['gateway', 'process-catalog', 'execution', 'scheduler', 'storage', 'sandbox', 'runner']
    const sets = names.map((name) => `internalTls.secrets.${name}=tls-of-${name}`)
    const manifests = await render(full, sets)
    for (const manifest of manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')) {
      const [pod] = podOf(manifest)
      expect(foldersOf(pod!)).toContainEqual({
        name: `tls-of-${component(manifest)!.replace(/^runner-.*/, 'runner')}`,
        path: '/run/secrets/internal-tls',
      })
      expect(pod!.containers[0]!.env).toContainEqual({ name: 'INTERNAL_TLS_DIR', value: '/run/secrets/internal-tls' })
    }
    expect(podSettings(manifests)).toHaveProperty('runners.tlsSecret', 'tls-of-runner')
    for (const name of names)
      await expect(
        render(
          full,
          sets.filter((set) => !set.includes(`.${name}=`)),
        ),
      ).rejects.toThrow(`internalTls.secrets.${name} must be set beside the others`)
  })

  test('gives the migrations what the address of a database names that lies in a volume of a service', async () => {
    const volume = ['name=certificates', 'secret.secretName=postgres-client']
    const sets = [
      ...volume.map((each) => `services.scheduler.extraVolumes[0].${each}`),
      'services.scheduler.extraVolumeMounts[0].name=certificates',
      'services.scheduler.extraVolumeMounts[0].mountPath=/etc/postgres',
    ]
    const job = (await render(full, sets)).find((each) => each.kind === 'Job' && component(each) === 'migrations')!
    const { containers, volumes } = podOf(job)[0]!
    expect(volumes).toContainEqual({ name: 'certificates', secret: { secretName: 'postgres-client' } })
    const having = containers.filter(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === 'certificates'))
    expect(having.map(({ name }) => name)).toEqual(['scheduler'])
  })

  test('makes no secret where existing ones are named', async () => {
    const secrets = (await render(full)).filter(({ kind }) => kind === 'Secret')
    // What it makes pods by is of the chart's values.
    expect(secrets.map(({ metadata }) => metadata.name)).toEqual(['release-process-automation-pod-settings'])
  })

  test('has all services send traces where a receiver is named, and no runner', async () => {
    const tracing = ['tracing.endpoint=http://collector:4318', 'tracing.existingSecret=otlp']
    const manifests = await render(minimal, [...tracing, 'runners.kind=deployment', 'runners.pools.large.slots=1'])
    const sending = manifests.filter((manifest) => JSON.stringify(podOf(manifest)).includes('http://collector:4318'))
    const services = ['execution', 'gateway', 'process-catalog', 'sandbox', 'scheduler']
    expect(new Set(sending.map(component))).toEqual(new Set(services))
    expect(manifests.map(component)).toContain('runner')
    const knowing = manifests.filter((each) =>
      podOf(each)
        .flatMap(secretsOf)
        .some(({ name }) => name === 'otlp'),
    )
    expect(new Set(knowing.map(component))).toEqual(new Set(services))
    for (const { env } of knowing.flatMap(podOf).flatMap(({ containers }) => containers))
      expect(env.map(({ name }) => name)).not.toContain('OTEL_EXPORTER_OTLP_HEADERS')
  })

  test('has the code of users on nodes of its own where they are named, else where services are', async () => {
    const placementOf = async (values: string[]) => {
      const manifests = await render(minimal, values)
      return (podSettings(manifests) as { placement?: object }).placement
    }
    const ofServices = ['nodeSelector.os=linux', 'tolerations[0].key=services', 'priorityClassName=high']
    expect(await placementOf([])).toBeUndefined()
    expect(await placementOf(ofServices)).toEqual({ nodeSelector: { os: 'linux' }, tolerations: [{ key: 'services' }] })
    const ofCode = ['userCode.nodeSelector.pool=code', 'userCode.tolerations[0].key=code']
    expect(await placementOf([...ofServices, ...ofCode])).toEqual({
      nodeSelector: { pool: 'code' },
      tolerations: [{ key: 'code' }],
    })
  })

  test('lets an autoscaler empty the nodes of services, whose folders outlive no pod, unless it is told otherwise', async () => {
    const annotation = 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes'
    const more = [
      'services.gateway.extraVolumes[0].name=mine',
      'services.gateway.extraVolumes[0].emptyDir.medium=Memory',
    ]
    const annotated = async (values: string[]) => {
      const pods = (await render(minimal, ['runners.kind=deployment', ...values])).filter(
        ({ kind }) => kind === 'Deployment',
      )
      return Object.fromEntries(
        pods.map((manifest) => [component(manifest), templateOf(manifest).metadata.annotations?.[annotation]]),
      )
    }
    expect(await annotated(more)).toMatchObject({ gateway: 'tmp,mine', execution: 'tmp', runner: 'tmp' })
    const own = `podAnnotations.${annotation.replaceAll('.', '\\.')}=none`
    expect(new Set(Object.values(await annotated([own])))).toEqual(new Set(['none']))
  })

  test('marks all pods with labels and annotations of the operator, and keeps what it finds them by', async () => {
    const marks = { labels: { owner: 'platform' }, annotations: { note: 'mine' } }
    const sets = ['podLabels.owner=platform', 'podAnnotations.note=mine', 'runners.pools.large.slots=1']
    for (const values of valuesFiles) {
      const manifests = await render(values, sets)
      const having = manifests.filter((each) => podOf(each).length > 0)
      expect(having.map(component)).toEqual(expect.arrayContaining(['test', 'gateway', 'runner-pool-large']))
      for (const manifest of having) {
        const { metadata } = manifest.kind === 'Pod' ? manifest : templateOf(manifest)
        expect(metadata, component(manifest)).toMatchObject(marks)
        expect(metadata.labels!['app.kubernetes.io/component']).toBe(component(manifest))
      }
      expect(podSettings(manifests)).toMatchObject({ metadata: marks })
    }
    for (const taken of ['app\\.kubernetes\\.io/component', 'process-automation/team'])
      await expect(render(minimal, [`podLabels.${taken}=x`])).rejects.toThrow(taken.replaceAll('\\', ''))
  })

  test('keeps tokens of registries, which are settings of runners, out of ConfigMaps', async () => {
    const manifests = await render(minimal, ['runners.env.NPM_REGISTRY=https://the-token@registry.example.com/'])
    const having = manifests.filter((each) => JSON.stringify(each).includes('the-token'))
    expect(having.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'Secret release-process-automation-pod-settings',
    ])
  })

  test('has runner pods ask a node for what their requests say', async () => {
    const requests = ['runners.resources.requests.memory=300Mi', 'runners.resources.requests.cpu=70m']
    const { runners } = podSettings(await render(minimal, requests)) as { runners: object }
    expect(runners).toMatchObject({ cpu: '70m', memoryRequest: '300Mi', memory: '2Gi' })
  })

  test('names no user and no group where the cluster gives them, also to pods that are made on demand', async () => {
    const manifests = await render(minimal, ['podSecurity.fixedIds=false', 'runners.kind=deployment'])
    expect(JSON.stringify(manifests.flatMap(podOf))).not.toMatch(/runAsUser|runAsGroup|fsGroup/)
    expect(podSettings(manifests)).toMatchObject({ fixedIds: false })
  })

  test('leaves the number of runners to KEDA, by how many execution wants in their pool', async () => {
    const keda = ['runners.keda.enabled=true', 'runners.keda.prometheus=http://prometheus:9090']
    const manifests = await render(minimal, ['runners.kind=deployment', 'runners.env.RUNNER_POOL=big', ...keda])
    const scaled = manifests.find(({ kind }) => kind === 'ScaledObject')!['spec'] as {
      scaleTargetRef: { name: string }
      triggers: { metadata: { query: string; threshold: string } }[]
    }
    const name = scaled.scaleTargetRef.name
    const runner = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)!
    expect(runner['spec']).not.toHaveProperty('replicas')
    expect(scaled.triggers[0]!.metadata).toMatchObject({
      query: 'max(execution_runners_wanted{namespace="automation", pool="big", cell=""})',
      threshold: '1',
      ignoreNullValues: 'false',
    })
  })

  test('spreads what may grow beyond one pod, and has a drain take its pods one by one', async () => {
    const grows = ['minReplicas=1', 'maxReplicas=4', 'cpuPercent=70'].map(
      (set) => `services.gateway.autoscaling.${set}`,
    )
    const keda = ['runners.keda.enabled=true', 'runners.keda.prometheus=http://prometheus:9090', 'runners.replicas=1']
    const manifests = await render(minimal, [...grows, 'runners.kind=deployment', ...keda])
    const spread = manifests.filter((each) => podOf(each).some((pod) => 'topologySpreadConstraints' in pod))
    const drained = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget')
    for (const found of [spread, drained])
      expect(found.map(component)).toEqual(expect.arrayContaining(['gateway', 'runner']))
  })

  test('mounts volumes of yours into a service', async () => {
    const volumes = [
      'services.storage.extraVolumes[0].name=mine',
      'services.storage.extraVolumes[0].configMap.name=mine',
      'services.gateway.extraVolumes[0].name=mine',
      'services.gateway.extraVolumes[0].configMap.name=mine',
      'services.gateway.extraVolumeMounts[0].name=mine',
      'services.gateway.extraVolumeMounts[0].mountPath=/mine',
    ]
    const gateway = (await render(minimal, volumes)).find(
      (each) => each.kind === 'Deployment' && component(each) === 'gateway',
    )!
    const [pod] = podOf(gateway)
    expect(pod!.volumes).toContainEqual({ name: 'mine', configMap: { name: 'mine' } })
    expect(pod!.containers[0]!.volumeMounts).toContainEqual({ name: 'mine', mountPath: '/mine' })
  })

  test('scales execution by its load, with nothing in the pods of others that names its replicas', async () => {
    const manifests = await render(full)
    const scaled = manifests.filter(({ kind }) => kind === 'HorizontalPodAutoscaler')
    expect(new Set(scaled.map(component))).toEqual(new Set(['execution', 'gateway']))
    const execution = manifests.find((each) => each.kind === 'Deployment' && component(each) === 'execution')!
    expect(execution['spec']).not.toHaveProperty('replicas')
    const deployments = (all: typeof manifests) => all.filter(({ kind }) => kind === 'Deployment')
    const changed = await render(full, ['services.execution.autoscaling.maxReplicas=9'])
    expect(deployments(changed)).toEqual(deployments(manifests))
  })

  test('has storage where an S3 server is named, with its keys as files, and runners may call it', async () => {
    const there = async (values: string, ...sets: string[]) =>
      (await render(values, sets)).filter((each) => component(each) === 'storage' && each.kind === 'Deployment')
    expect(await there(minimal)).toEqual([])
    const keys = ['accessKey=one', 'secretKey=two', 'bucket=files'].map((pair) => `objectStore.${pair}`)
    const [storage] = await there(minimal, 'objectStore.endpoint=http://s3:9000', ...keys)
    const env = podOf(storage!)[0]!.containers[0]!.env.map(({ name, value }) => [name, value])
    expect(env).toEqual(
      expect.arrayContaining([
        ['S3_ENDPOINT', 'http://s3:9000'],
        ['S3_BUCKET', 'files'],
        ['S3_SECRET_KEY_FILE', '/run/secrets/automation/S3_SECRET_KEY'],
      ]),
    )
    await expect(render(minimal, ['objectStore.endpoint=http://s3:9000'])).rejects.toThrow(/objectStore\.bucket/)
    const runners = (await render(minimal)).find(({ metadata }) => metadata.name.endsWith('-runners'))!['spec'] as {
      egress: { ports: { port: number }[] }[]
    }
    expect(runners.egress.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([9102, 9104])
  })

  test('runs the scheduler twice, which holds the database and the key of the services alone', async () => {
    const manifests = await render(minimal)
    const scheduler = manifests.find((each) => each.kind === 'Deployment' && component(each) === 'scheduler')!
    expect((scheduler['spec'] as { replicas: number }).replicas).toBe(2)
    const files = podOf(scheduler)[0]!.containers[0]!.env.filter(({ name }) => name.endsWith('_FILE'))
    expect(files.map(({ name }) => name)).toEqual(['DATABASE_URL_FILE', 'INTERNAL_KEY_FILE'])
    const gateway = manifests.find((each) => each.kind === 'Deployment' && component(each) === 'gateway')!
    const address = podOf(gateway)[0]!.containers[0]!.env.find(({ name }) => name === 'SERVICE_ADDRESSES')?.value
    expect(address).toMatch(/,scheduler=[^,]+-scheduler-replicas\.[^,]+\.svc:9106,/)
    const migrations = manifests.find(({ kind, metadata }) => kind === 'Job' && metadata.name.endsWith('-migrations'))!
    expect(podOf(migrations)[0]!.containers.map(({ name }) => name)).toContain('scheduler')
  })

  test('gives runners the time that their longest run may take', async () => {
    const manifests = await render(minimal, ['runners.kind=deployment', 'runTimeoutMaxMs=7200000'])
    const runner = manifests.find((manifest) => manifest.kind === 'Deployment' && component(manifest) === 'runner')!
    expect(podOf(runner)[0]!.terminationGracePeriodSeconds).toBeGreaterThan(7200)
  })

  test.each([
    ['a domain of webhooks with a port', 'gateway.webhookDomain=hooks.example.com:80'],
    ['an unknown value', 'servces.gateway.replicas=3'],
    ['a tag that moves', 'image.tag=latest'],
    ['a database that is none', 'database.url=mysql://x'],
    ['a team that can be none', 'bootstrap.team=Not_One'],
  ])('refuses %s', async (_, set) => {
    await expect(render(minimal, [set])).rejects.toThrow(/schema|additional|pattern|not/i)
  })

  test.each(['settings', 'services.execution.env', 'runners.env'])(
    'takes in %s what programs read, and names what they do not',
    async (place) => {
      const sets = ['LOG_LEVEL=debug', 'ENCRYPTION_KEY_FILE=/a', 'NODE_OPTIONS=--a', 'HTTPS_PROXY=http://proxy:1']
      await render(
        minimal,
        sets.map((set) => `${place}.${set}`),
      )
      await expect(render(minimal, [`${place}.LOG_LEVLE=debug`])).rejects.toThrow('LOG_LEVLE')
    },
  )

  test('is refused without a database, and says so', async () => {
    await expect(render(minimal, ['database.url='])).rejects.toThrow(/database\.url/)
  })
})
