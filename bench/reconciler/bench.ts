/**
 * Measures `pharos validate` and `pharos plan` on 10,000 manifests, beside parsing the same files and nothing
 * else: the ratios hold on any machine, the seconds only on this one.
 *
 * Run with `node --import tsx bench/reconciler/bench.ts` after `npm run build`.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startServer } from '../../server/testing/startServer.ts'

const MANIFESTS = 10_000
/** Runs of each; the fastest counts, because whatever else runs only ever adds. */
const RUNS = 3
const PROGRAM = join(import.meta.dirname, '../../dist/pharos.js')
const YAML = import.meta.resolve('js-yaml')

/** Tells the most memory that a process had (KiB) when it ends. */
const TELL_MEMORY = `data:text/javascript,process.on('exit',()=>process.stderr.write('\\nKiB '+process.resourceUsage().maxRSS))`
const PARSE_ALONE = `
import { readdirSync, readFileSync } from 'node:fs'
import { loadAll } from '${YAML}'
const folder = process.argv.at(-1)
for (const name of readdirSync(folder)) loadAll(readFileSync(folder + '/' + name, 'utf8'))`

interface Measure {
  readonly secs: number
  readonly mib: number
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  const server = await startServer({ rateLimit: 'none' })
  try {
    const manifests = join(folder, 'manifests')
    writeManifests(manifests)
    const env = { PATH: process.env.PATH ?? '', PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
    const state = join(folder, 'pharos.db')
    const parse = await fastest(['--input-type=module', '-e', PARSE_ALONE, manifests], env)
    report('parse alone', parse, parse)
    report('validate', await fastest([PROGRAM, 'validate', manifests], env), parse)
    const broken = join(folder, 'broken')
    writeManifests(broken, 100)
    report('validate, 1 % broken', await fastest([PROGRAM, 'validate', broken], env), parse)
    report('plan, all new', await fastest([PROGRAM, 'plan', manifests, '--state', state], env), parse)
  } finally {
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

/** Writes the manifests; every `brokenEvery`-th has a misspelt field. */
function writeManifests(folder: string, brokenEvery = Number.POSITIVE_INFINITY): void {
  mkdirSync(folder)
  for (let index = 0; index < MANIFESTS; index += 1) {
    const text = `apiVersion: pharos/v1
kind: Service
metadata: {name: s${index}}
spec:
  interval: 60s
  regions: [eu-west-1]
  endpoints:
    - url: https://s${index}.example.com/
      headers: {Accept: text/html}
      assertions:
        - status: 200
        - latency: {total: "< 500ms"}
`
    const isBroken = (index + 1) % brokenEvery === 0
    writeFileSync(join(folder, `s${index}.yaml`), isBroken ? text.replace('status:', 'statuss:') : text)
  }
}

async function fastest(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Measure> {
  const measures: Measure[] = []
  for (let run = 0; run < RUNS; run += 1) {
    const startedAt = performance.now()
    const options = { env, maxBuffer: 64 * 1024 * 1024 }
    const stderr = await promisify(execFile)(process.execPath, ['--import', TELL_MEMORY, ...args], options)
      .catch((ended: { stderr: string }) => ended)
      .then((run) => run.stderr)
    const secs = (performance.now() - startedAt) / 1_000
    measures.push({ secs, mib: Number(/KiB (\d+)/.exec(stderr)?.[1]) / 1_024 })
  }
  return measures.reduce((best, one) => (one.secs < best.secs ? one : best))
}

function report(what: string, { secs, mib }: Measure, parse: Measure): void {
  const ratio = (secs / parse.secs).toFixed(2)
  process.stdout.write(`${what}: ${secs.toFixed(2)} s, ${mib.toFixed(0)} MiB, ${ratio} times parsing alone\n`)
}

await main()
