import { eventBusConformance } from '@automation/testing'
import { openBus } from './bus-under-test.ts'

eventBusConformance('the bus over the timeline', () => openBus())
