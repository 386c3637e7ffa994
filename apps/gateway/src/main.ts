import { runPart } from '@automation/service'
import { createGateway, readGatewayConfig } from './service.ts'

await runPart({ name: 'gateway', service: 'gateway', readConfig: readGatewayConfig, create: createGateway })
