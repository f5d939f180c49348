import { pino } from 'pino'
import { keyBuckets } from '../../server/http/rateLimit.ts'
import { startProgram } from '../../server/process/program.ts'
import { monotonicMs, systemEnvironment } from '../../server/process/systemEnvironment.ts'
import { defaultKeyFile } from '../../server/secrets/keyring.ts'
import { sqliteEngine } from '../../server/store/sqlite/sqliteEngine.ts'

/** The server of `pharos-server serve --data-dir <folder>`, except that each mutation has its own commit. */
const dataDir = process.argv[process.argv.indexOf('--data-dir') + 1] ?? ''
const program = await startProgram({
  engine: sqliteEngine(dataDir, systemEnvironment.nowMs, { mutationsPerCommit: 1 }),
  dataDir,
  host: '127.0.0.1',
  port: 0,
  adminHost: '127.0.0.1',
  connectionsMax: 10_000,
  adminPort: null,
  agents: null,
  status: null,
  console: null,
  monotonicMs,
  allowedRanges: [],
  webhookRanges: [],
  isMonitoring: false,
  keySource: { kind: 'file', file: defaultKeyFile(dataDir) },
  environment: systemEnvironment,
  spendRequest: keyBuckets(monotonicMs),
  log: pino({ level: 'error' }, pino.destination({ fd: 2, sync: true })),
})
process.once('SIGTERM', () => void program.close())
process.stdout.write(`listening on ${program.url}\n`)
