import { Client as Channel, credentials, Metadata } from '@grpc/grpc-js'
import { served } from '@automation/rpc'
import { serve, type ServedPort } from '@automation/rpc/wire'
import { silentLogger } from '@automation/testing'
import { afterEach, expect, test } from 'vitest'
import { ProbeService } from './probe/probe_pb.ts'
import { handlers, internalKey } from './shapes.ts'

const opened: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((close) => close()))
})

async function open(host: string): Promise<ServedPort & { channel: Channel }> {
  const options = { host, port: 0, internalKey, maxMessageBytes: 100_000, logger: silentLogger }
  const served_ = await serve([served(ProbeService, handlers())], options)
  const channel = new Channel(`127.0.0.1:${served_.port}`, credentials.createInsecure())
  opened.push(
    () => channel.close(),
    () => served_.close(0),
  )
  return { ...served_, channel }
}

test('health is told to anybody, for each service and for all, and says when the server drains', async () => {
  const { channel, drain } = await open('127.0.0.1')
  expect(await health(channel, '')).toBe('SERVING')
  expect(await health(channel, 'automation.probe.v1.ProbeService')).toBe('SERVING')
  drain()
  expect(await health(channel, '')).toBe('NOT_SERVING')
  expect(await health(channel, 'automation.probe.v1.ProbeService')).toBe('NOT_SERVING')
})

test('reflection names the services and their files on loopback', async () => {
  const { channel } = await open('127.0.0.1')
  expect(await reflect(channel, listServices)).toContain('automation.probe.v1.ProbeService')
  expect(await reflect(channel, fileOf('automation.probe.v1.ProbeService'))).toContain('Question')
})

test('reflection asks for credentials where others can reach the port', async () => {
  const { channel } = await open('0.0.0.0')
  await expect(reflect(channel, listServices)).rejects.toMatchObject({ code: 16 })
})

const listServices = Buffer.from([0x3a, 1, 0x2a])

function fileOf(symbol: string): Buffer {
  return Buffer.concat([Buffer.from([0x22, symbol.length]), Buffer.from(symbol)])
}

const asBytes = (bytes: Buffer) => bytes

function health(channel: Channel, service: string): Promise<string> {
  const request =
    service === '' ? Buffer.alloc(0) : Buffer.concat([Buffer.from([10, service.length]), Buffer.from(service)])
  return new Promise((resolve, reject) => {
    channel.makeUnaryRequest('/grpc.health.v1.Health/Check', asBytes, asBytes, request, (error, answer) => {
      if (error !== null) reject(error)
      else resolve(answer![1] === 1 ? 'SERVING' : 'NOT_SERVING')
    })
  })
}

function reflect(channel: Channel, request: Buffer): Promise<string> {
  const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
  return new Promise((resolve, reject) => {
    const call = channel.makeBidiStreamRequest(path, asBytes, asBytes, new Metadata())
    call.on('data', (answer: Buffer) => {
      resolve(answer.toString('latin1'))
      call.cancel()
    })
    call.on('error', reject)
    call.write(request)
  })
}
