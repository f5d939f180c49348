/**
 * Cost of the typed layer, as ratios: `npx tsx bench/cdktf/bench.ts [services]`, after `npm run build`.
 *
 * Synthesises the same services with the layer, with the plain bindings, and as many resources of CDKTF's own without
 * attributes, each in a separate process, and prints the minimum of several runs.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { App, TerraformResource, TerraformStack } from 'cdktf'
import { get, latency, monitorEach, PharosProvider, Service, status } from 'pharos/cdktf'

const SERVICES = 1_000
const RUNS = 5

/** Cost of one synthesis. */
interface Measured {
  readonly ms: number
  /** Peak memory of the process (bytes). */
  readonly rssBytesMax: number
  /** Size of the stack. */
  readonly bytes: number
}

const regions = ['eu-west-1', 'us-east-1']
const url = (name: string): string => `https://${name}.example.com/health`
const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `shop_${index}`)

/** Ways to create `count` resources, by name. */
const programs: Readonly<Record<string, (stack: TerraformStack, count: number) => void>> = {
  layer: (stack, count) => {
    const page = (name: string) =>
      get(url(name)).timeout('10s').expect(status.between(200, 299), latency.total.below('800ms'))
    monitorEach(stack, names(count), (name) => ({ name, regions, endpoints: page(name) }))
  },
  bindings: (stack, count) => {
    for (const name of names(count)) {
      const assertions = [
        { statusCode: { between: [200, 299] } },
        { latency: { phase: 'total', lt: '800ms' } },
      ]
      const endpoints = [{ url: url(name), http: { method: 'GET', timeout: '10s' }, assertions }]
      new Service(stack, name, { name, interval: '1m', regions, endpoints })
    }
  },
  bare: (stack, count) => {
    for (const name of names(count)) {
      new TerraformResource(stack, name, { terraformResourceType: 'pharos_service' })
    }
  },
}

function measure(program: string, count: number): Measured {
  const outdir = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  try {
    const startedAtMs = performance.now()
    const app = new App({ outdir })
    const stack = new TerraformStack(app, 'stack')
    new PharosProvider(stack, 'pharos')
    programs[program]?.(stack, count)
    app.synth()
    const ms = performance.now() - startedAtMs
    const bytes = readFileSync(join(outdir, 'stacks/stack/cdk.tf.json')).length
    return { ms, rssBytesMax: process.resourceUsage().maxRSS * 1_024, bytes }
  } finally {
    rmSync(outdir, { recursive: true })
  }
}

function inProcess(program: string, count: number): Measured {
  const args = ['--import', 'tsx', fileURLToPath(import.meta.url), String(count), program]
  const env = { ...process.env, CHECKPOINT_DISABLE: '1' }
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' }))
}

/** The minimum of each figure over several runs, because other work on the machine only adds. */
function least(runs: readonly Measured[]): Measured {
  return {
    ms: Math.min(...runs.map(({ ms }) => ms)),
    rssBytesMax: Math.min(...runs.map(({ rssBytesMax }) => rssBytesMax)),
    bytes: Math.min(...runs.map(({ bytes }) => bytes)),
  }
}

function compare(count: number): void {
  const names = Object.keys(programs)
  // Interleaved, so that a busy moment of the machine affects all of them.
  const rounds = Array.from({ length: RUNS }, () => names.map((name) => inProcess(name, count)))
  const empty = least(Array.from({ length: RUNS }, () => inProcess('none', 0)))
  const measured = names.map((_name, index) => least(rounds.map((round) => round[index] ?? empty)))
  const bare = measured.at(-1) ?? empty
  for (const [index, { ms, rssBytesMax, bytes }] of measured.entries()) {
    const memoryMb = (rssBytesMax - empty.rssBytesMax) / 1_048_576
    process.stdout.write(
      `synth of ${count}, ${names[index]}: ${ms.toFixed(0)} ms (${(ms / bare.ms).toFixed(2)} × bare), ${memoryMb.toFixed(0)} MB more than an empty stack, ${(bytes / 1_024).toFixed(0)} KB\n`,
    )
  }
}

const [count = String(SERVICES), program] = process.argv.slice(2)
if (program === undefined) compare(Number(count))
else process.stdout.write(JSON.stringify(measure(program, Number(count))))
