import { runPart } from '@automation/service'
import { createGateway, readGatewayConfig } from './service.ts'

await runPart({ name: 'gateway', ports: { health: 9200 }, readConfig: readGatewayConfig, create: createGateway })
