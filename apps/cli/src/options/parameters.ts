import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { Command } from 'commander'
import { isJsonObject, parseExactly } from '../exact-json.ts'
import { usageError, type Runtime } from '../runtime.ts'
import { repeated } from './repeated.ts'

/** What the options below say. */
export interface ParameterOptions {
  parameter?: string[]
  file?: string
}

/** Adds the options by which a command takes the parameters of a run. */
export function withParameters(command: Command): Command {
  return command
    .option('-p, --parameter <name=value>', 'a parameter as text; NAME:=VALUE is JSON, such as count:=3', repeated)
    .option('-f, --file <file>', 'a file with the parameters as a JSON object, - for stdin')
}

/**
 * The parameters of a run: those of the file, and over them the single ones; undefined where none are given. Numbers are
 * written as they came.
 */
export async function readParameters(
  runtime: Runtime,
  { parameter = [], file }: ParameterOptions,
): Promise<Record<string, unknown> | undefined> {
  if (parameter.length === 0 && file === undefined) return undefined
  const ofFile = file === undefined ? {} : parseObject(await readText(runtime, file), file === '-' ? 'stdin' : file)
  return { ...ofFile, ...Object.fromEntries(parameter.map(readParameter)) }
}

/** A file as text; `-` is stdin. */
export async function readText(runtime: Runtime, file: string): Promise<string> {
  return new TextDecoder().decode(await readBytes(runtime, file))
}

/** The bytes of a body as `-d` takes it: a text, `@FILE`, or `@-` for stdin; undefined where there is none. */
export async function readBody(runtime: Runtime, data: string | undefined): Promise<Buffer<ArrayBuffer> | undefined> {
  if (data === undefined) return undefined
  return data.startsWith('@') ? readBytes(runtime, data.slice(1)) : Buffer.from(data)
}

async function readBytes(runtime: Runtime, file: string): Promise<Buffer<ArrayBuffer>> {
  if (file === '-') return Buffer.from(await buffer(runtime.stdin))
  return readFile(file).catch((error: Error) => {
    throw usageError(`${file} can't be read: ${error.message}`)
  })
}

function readParameter(text: string): [string, unknown] {
  const [, name, kind, value] = /^([^=:]+)(:?=)(.*)$/s.exec(text) ?? []
  if (name === undefined) throw usageError(`A parameter is NAME=TEXT or NAME:=JSON, and "${text}" is neither.`)
  return [name, kind === '=' ? value : parseJson(value!, `the parameter ${name}`)]
}

/** The parameters in a JSON text; a usage error names its place. */
export function parseObject(text: string, where: string): Record<string, unknown> {
  const value = parseJson(text, where)
  if (!isJsonObject(value)) throw usageError(`${where} must hold a JSON object: the parameters by name.`)
  return value
}

function parseJson(text: string, where: string): unknown {
  try {
    return parseExactly(text)
  } catch (error) {
    throw usageError(`${where} is no JSON: ${(error as Error).message}`)
  }
}
