export interface ServerSettings {
  port: number
  /** Empty: no unix socket. */
  socketFolder: string
  maxConnections: number
  /** False only for data that may be lost, such as that of tests. */
  durable: boolean
}

/** The server's settings as arguments; small in memory when idle, nothing that only replication or big machines need. */
export function serverArguments(settings: ServerSettings): string[] {
  const values = {
    listen_addresses: '127.0.0.1',
    port: settings.port,
    unix_socket_directories: settings.socketFolder,
    unix_socket_permissions: '0700',
    max_connections: settings.maxConnections,
    shared_buffers: '64MB',
    work_mem: '8MB',
    jit: 'off',
    io_method: 'sync',
    max_parallel_workers_per_gather: 0,
    max_logical_replication_workers: 0,
    wal_level: 'minimal',
    max_wal_senders: 0,
    max_wal_size: '512MB',
    fsync: settings.durable ? 'on' : 'off',
    full_page_writes: settings.durable ? 'on' : 'off',
    synchronous_commit: settings.durable ? 'on' : 'off',
    password_encryption: 'scram-sha-256',
    update_process_title: 'off',
    lc_messages: 'C',
    log_destination: 'stderr',
    log_line_prefix: '',
    // Callers get the errors of their statements; here they would show values.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
