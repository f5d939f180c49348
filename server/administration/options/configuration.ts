/** Environment variables that replace flags; a flag wins. */
export const VARIABLES = {
  dataDir: 'PHAROS_DATA_DIR',
  database: 'PHAROS_DATABASE_URL',
  databaseFile: 'PHAROS_DATABASE_URL_FILE',
  host: 'PHAROS_HOST',
  port: 'PHAROS_PORT',
  adminHost: 'PHAROS_ADMIN_HOST',
  adminPort: 'PHAROS_ADMIN_PORT',
  agentHost: 'PHAROS_AGENT_HOST',
  agentPort: 'PHAROS_AGENT_PORT',
  agentTlsCert: 'PHAROS_AGENT_TLS_CERT',
  agentTlsKey: 'PHAROS_AGENT_TLS_KEY',
  agentAdvertiseUrl: 'PHAROS_AGENT_ADVERTISE_URL',
  tlsCert: 'PHAROS_TLS_CERT',
  tlsKey: 'PHAROS_TLS_KEY',
  adminTls: 'PHAROS_ADMIN_TLS',
  statusHost: 'PHAROS_STATUS_HOST',
  statusPort: 'PHAROS_STATUS_PORT',
  statusUrl: 'PHAROS_STATUS_URL',
  consoleHost: 'PHAROS_CONSOLE_HOST',
  consolePort: 'PHAROS_CONSOLE_PORT',
  consoleUrl: 'PHAROS_CONSOLE_URL',
  trustProxies: 'PHAROS_TRUST_PROXIES',
  masterKeyFile: 'PHAROS_MASTER_KEY_FILE',
  connectionsMax: 'PHAROS_CONNECTIONS_MAX',
  allowRanges: 'PHAROS_ALLOW_RANGES',
  allowWebhookRanges: 'PHAROS_ALLOW_WEBHOOK_RANGES',
  checkProxy: 'PHAROS_CHECK_PROXY',
  webhookProxy: 'PHAROS_WEBHOOK_PROXY',
  monitor: 'PHAROS_MONITOR',
  migrate: 'PHAROS_MIGRATE',
  backupTo: 'PHAROS_BACKUP_TO',
  backupEvery: 'PHAROS_BACKUP_EVERY',
  backupKeep: 'PHAROS_BACKUP_KEEP',
  logLevel: 'PHAROS_LOG_LEVEL',
} as const

/** The only value without a flag: every user of the machine can read a command line. */
export const MASTER_KEY_VARIABLE = 'PHAROS_MASTER_KEY'

/** Log levels, most verbose first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
