import { readArguments } from '../arguments.ts'
import { runServices } from './services.ts'

readArguments(
  'npm run start:services -- [--print-config]',
  'Starts every service as a process of its own on this machine, with gRPC between them.',
)
await runServices(process.env)
