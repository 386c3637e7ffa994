import { runPart } from '@automation/service'
import { createGateway, readGatewayConfig } from './service.ts'

await runPart({ name: 'gateway', readConfig: readGatewayConfig, create: createGateway })
