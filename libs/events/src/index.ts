export type { EventBus, EventHandler, Subscription } from './event-bus.ts'
export type { Cursor, Leadership, Outbox, OutboxEvent } from './outbox.ts'
export { OutboxBus, type OutboxBusOptions } from './outbox-bus.ts'
