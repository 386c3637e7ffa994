import { createServer, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import { listening } from './listening.ts'

/** A span as a receiver of OTLP got it. */
export interface ReceivedSpan {
  service: string
  name: string
  traceId: string
  spanId: string
  /** Empty for the first of a trace. */
  parentSpanId: string
  kind: number
  startMs: number
  endMs: number
  attributes: Record<string, string | number | boolean>
  /** Whether its status is an error. */
  isError: boolean
}

export interface TraceReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  endpoint: string
  /** All that came, in the order of their coming. */
  spans: ReceivedSpan[]
  /** Of each request. */
  headers: IncomingHttpHeaders[]
  close(): Promise<void>
}

/** A receiver of traces over OTLP/HTTP. */
export async function traceReceiver(): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = []
  const headers: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    buffer(request).then(
      (body) => {
        if (request.url !== '/v1/traces') return void response.writeHead(404).end()
        spans.push(...spansOf(body))
        headers.push(request.headers)
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
      },
      () => response.destroy(),
    )
  })
  const { url, close } = await listening(server)
  return { endpoint: url, spans, headers, close }
}

type Value = Uint8Array | bigint | number
type Fields = Map<number, Value[]>

/** Of an ExportTraceServiceRequest of opentelemetry-proto. */
function spansOf(body: Uint8Array): ReceivedSpan[] {
  return nested(fieldsOf(body), 1).flatMap((ofResource) => {
    const [resource] = nested(ofResource, 1)
    const service = String(attributesIn(resource ?? new Map(), 1)['service.name'] ?? '')
    return nested(ofResource, 2).flatMap((ofScope) => nested(ofScope, 2).map((span) => ({ service, ...spanOf(span) })))
  })
}

function spanOf(span: Fields): Omit<ReceivedSpan, 'service'> {
  const hex = (field: number) => Buffer.from(bytesIn(span, field)).toString('hex')
  const ms = (field: number) => Number(span.get(field)?.[0] ?? 0) / 1e6
  const [status = new Map<number, Value[]>()] = nested(span, 15)
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentSpanId: hex(4),
    name: Buffer.from(bytesIn(span, 5)).toString(),
    kind: Number(span.get(6)?.[0] ?? 0),
    startMs: ms(7),
    endMs: ms(8),
    attributes: attributesIn(span, 9),
    isError: Number(status.get(3)?.[0] ?? 0) === 2,
  }
}

function attributesIn(fields: Fields, field: number): Record<string, string | number | boolean> {
  return Object.fromEntries(
    nested(fields, field).map((pair) => {
      const [value = new Map<number, Value[]>()] = nested(pair, 2)
      return [Buffer.from(bytesIn(pair, 1)).toString(), valueOf(value)]
    }),
  )
}

function valueOf(value: Fields): string | number | boolean {
  if (value.has(1)) return Buffer.from(bytesIn(value, 1)).toString()
  if (value.has(2)) return Number(value.get(2)?.[0]) === 1
  return Number(value.get(3)?.[0] ?? value.get(4)?.[0] ?? 0)
}

function nested(fields: Fields, field: number): Fields[] {
  return (fields.get(field) ?? []).flatMap((value) => (value instanceof Uint8Array ? [fieldsOf(value)] : []))
}

function bytesIn(fields: Fields, field: number): Uint8Array {
  const value = fields.get(field)?.[0]
  return value instanceof Uint8Array ? value : new Uint8Array()
}

function fieldsOf(body: Uint8Array): Fields {
  const reader = new BinaryReader(body)
  const fields: Fields = new Map()
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    const readers: Record<number, () => Value> = {
      0: () => BigInt(reader.uint64()),
      1: () => BigInt(reader.fixed64()),
      2: () => reader.bytes(),
      5: () => reader.fixed32(),
    }
    const read = readers[wireType]
    if (read === undefined) throw new Error(`No wire type ${wireType} is expected`)
    fields.set(field, [...(fields.get(field) ?? []), read()])
  }
  return fields
}
