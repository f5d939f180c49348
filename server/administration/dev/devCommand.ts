import { realpathSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Command, Option } from 'commander'
import { stderrLog } from '../../../api/runtime/stderrLog.ts'
import { wholeNumber } from '../../../monitoring/program/wholeNumber.ts'
import { keyBuckets } from '../../http/rateLimit.ts'
import { connectionsFor, descriptorLimit } from '../../process/connectionsMax.ts'
import { startProgram } from '../../process/program.ts'
import { createLog } from '../../process/requestLog.ts'
import { stopSignal } from '../../process/stopSignal.ts'
import { monotonicMs, systemEnvironment } from '../../process/systemEnvironment.ts'
import { defaultKeyFile } from '../../secrets/keyring.ts'
import { sqliteEngine } from '../../store/sqlite/sqliteEngine.ts'
import { readGiven } from '../options/readGiven.ts'
import { withStore } from '../options/withStore.ts'
import { present } from '../text/output.ts'
import { devOrg, devStatusPage, ownerPath, replaceKey } from './devOrg.ts'
import { type DevDocument, devText } from './devText.ts'
import { putSampleService } from './sampleService.ts'
import { startSampleTarget } from './sampleTarget.ts'

/** Preferred ports, as in the documentation. A taken one is replaced by a free one. */
const PORTS = { api: 7171, console: 7173, status: 7174 }
const HOST = '127.0.0.1'
/** Address ranges that `dev` may check and notify: loopback and private networks. */
const OWN_RANGES = ['127.0.0.0/8', '::1/128', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']

interface DevOptions {
  readonly dataDir?: string
  readonly port?: number
  readonly json: boolean
}

/**
 * Adds `dev`, which needs no settings. It ignores the variables of `serve`, so that it never opens a production data
 * folder.
 */
export function addDevCommand(program: Command): void {
  program
    .command('dev')
    .description('try Pharos: a server with sample data on this machine, until Ctrl-C')
    .addOption(
      new Option(
        '--data-dir <dir>',
        'folder for the data (default: a temporary one, removed at the end)',
      ).argParser(readGiven),
    )
    .addOption(
      new Option(
        '--port <port>',
        'port of the API; 0 chooses free ports for all listeners (default: 7171 if it is free)',
      ).argParser(wholeNumber(0, 65_535)),
    )
    .option('--json', 'print JSON', false)
    .action(async ({ dataDir, port, json }: DevOptions, command: Command) => {
      const temporary = dataDir === undefined ? await mkdtemp(join(tmpdir(), 'pharos-dev-')) : undefined
      try {
        await serveDev(dataDir ?? join(temporary ?? '', 'data'), port, (document) =>
          present(command, json, document, devText(document, temporary !== undefined, pharosFile())),
        )
      } finally {
        // It also contains the master key.
        if (temporary !== undefined) await rm(temporary, { recursive: true })
      }
    })
}

/** The program `pharos`, which the build puts beside this one. */
function pharosFile(): string {
  return join(dirname(realpathSync(process.argv[1] ?? '')), 'pharos.js')
}

/** Serves until a signal to stop. `onStarted` receives the addresses. */
async function serveDev(
  dataDir: string,
  port: number | undefined,
  onStarted: (document: DevDocument) => void,
): Promise<void> {
  // Installed first, so that a signal during the start also ends it cleanly.
  const stopped = stopSignal()
  const target = await startSampleTarget()
  try {
    const engine = sqliteEngine(dataDir, systemEnvironment.nowMs)
    const orgId = await withStore(engine, devOrg)
    const program = await startProgram({
      ...{ engine, dataDir, keySource: { kind: 'file', file: defaultKeyFile(dataDir) } },
      ...{ host: HOST, adminHost: HOST, adminPort: null, agents: null },
      port: port ?? (await freePort(PORTS.api)),
      status: { host: HOST, port: port === 0 ? 0 : await freePort(PORTS.status) },
      console: { host: HOST, port: port === 0 ? 0 : await freePort(PORTS.console) },
      connectionsMax: connectionsFor(descriptorLimit()),
      ...{ allowedRanges: OWN_RANGES, webhookRanges: OWN_RANGES, isMonitoring: true },
      ...{ environment: systemEnvironment, monotonicMs, spendRequest: keyBuckets(monotonicMs) },
      log: createLog(stderrLog(), 'warn'),
    })
    try {
      const { store, url, statusUrl, consoleUrl } = program
      const apiKey = await replaceKey(store, orgId)
      const serviceId = await putSampleService({ url, apiKey }, target.url)
      onStarted({
        ...{ url, apiKey, orgId, dataDir, sample: { serviceId, url: target.url } },
        statusPageUrl: `${statusUrl}${await devStatusPage(store, orgId, serviceId)}`,
        consoleUrl: `${consoleUrl}${await ownerPath(store, orgId)}`,
      })
      await stopped
    } finally {
      await program.close()
    }
  } finally {
    target.close()
  }
}

/** `preferred` if it is free, else 0 (any free port). */
function freePort(preferred: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
      .once('error', () => resolve(0))
      .listen(preferred, HOST, () => probe.close(() => resolve(preferred)))
  })
}
