import { describe, expect, test } from 'vitest'
import { component, full, isThere, minimal, podOf, render } from '../charts/render.ts'

// Without helm there is nothing to try; `npm run check` says so.
describe.runIf(isThere('helm'))('addresses', () => {
  test('tells users of sandboxes the hosts of the ingress or the routes that lead to them', async () => {
    const gateway = async (...sets: string[]) => {
      const deployment = (await render(minimal, sets)).find((each) => component(each) === 'gateway' && podOf(each)[0])
      const env = podOf(deployment!)[0]!.containers[0]!.env
      return Object.fromEntries(
        env.filter(({ name }) => name.startsWith('SANDBOX_')).map((each) => [each.name, each.value]),
      )
    }
    expect(await gateway('ingress.enabled=true', 'ingress.host=a.example.com')).toEqual({})
    const ingress = ['ingress.enabled=true', 'ingress.host=a.example.com', 'ingress.sandboxHost=*.boxes.example.com']
    expect(await gateway(...ingress)).toEqual({
      SANDBOX_URLS: 'public=http://boxes.example.com',
      SANDBOX_PUBLIC_DOMAIN: 'boxes.example.com',
    })
    const tls = await gateway(...ingress, 'ingress.tls[0].secretName=tls')
    expect(tls['SANDBOX_URLS']).toBe('public=https://boxes.example.com')
    const route = ['httpRoute.enabled=true', 'httpRoute.sandboxHostnames[0]=boxes.example.com']
    expect(await gateway(...route, 'httpRoute.sandboxGrpcHostnames[0]=grpc.example.com')).toEqual({
      SANDBOX_URLS: 'public=https://boxes.example.com,grpc=https://grpc.example.com',
    })
    const own = await gateway(...ingress, 'services.gateway.env.SANDBOX_URLS=public=https://other.example.com')
    expect(own['SANDBOX_URLS']).toBe('public=https://other.example.com')
  })

  test('leads callers of each service to all of its pods, by the name of a headless Service', async () => {
    const manifests = await render(full)
    const gateway = manifests.find((manifest) => manifest.kind === 'Deployment' && component(manifest) === 'gateway')!
    const addresses = podOf(gateway)[0]!.containers[0]!.env.find(({ name }) => name === 'SERVICE_ADDRESSES')!.value!
    const hosts = addresses.split(',').map((address) => /=([^.]+)\.automation\.svc:\d+$/.exec(address)?.[1])
    const headless = manifests.filter(
      ({ kind, spec }) => kind === 'Service' && (spec as { clusterIP?: string }).clusterIP === 'None',
    )
    expect(new Set(hosts)).toEqual(new Set(headless.map(({ metadata }) => metadata.name)))
    const called = ['execution', 'process-catalog', 'sandbox', 'scheduler', 'storage']
    expect(new Set(headless.map(component))).toEqual(new Set(called))
  })

  test('leads the hosts below the domain of webhooks to the gateway, which knows of it', async () => {
    const manifests = await render(full)
    const [container] = manifests.filter((each) => component(each) === 'gateway').flatMap(podOf)[0]!.containers
    expect(container!.env).toContainEqual({ name: 'WEBHOOK_DOMAIN', value: 'webhooks.example.com' })
    const specs = (kind: string) => manifests.filter((each) => each.kind === kind).map((each) => each['spec'])
    const [{ rules }] = specs('Ingress') as [{ rules: { host: string; http: { paths: { backend: object }[] } }[] }]
    const backends = new Map(rules.map(({ host, http }) => [host, http.paths[0]!.backend]))
    expect(backends.get('*.webhooks.example.com')).toEqual(backends.get('automation.example.com'))
    const [route] = specs('HTTPRoute') as [{ hostnames: string[] }]
    expect(route.hostnames).toEqual(['automation.example.com', '*.webhooks.example.com'])
    expect(JSON.stringify(await render(minimal))).not.toContain('WEBHOOK_DOMAIN')
  })
})
