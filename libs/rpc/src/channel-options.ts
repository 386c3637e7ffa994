import type { ChannelOptions } from '@grpc/grpc-js'

/** For both ends: the limit of a message, and pings that notice a frozen or vanished peer within twice `keepaliveMs`. */
export function channelOptions(maxMessageBytes: number, keepaliveMs = 4000): ChannelOptions {
  return {
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveMs,
    'grpc.keepalive_permit_without_calls': 1,
    // Retries that DNS asks for would hide from `noteWhetherSent` that a call was sent before.
    'grpc.service_config_disable_resolution': 1,
  }
}
