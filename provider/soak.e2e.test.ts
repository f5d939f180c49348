import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Client } from '../api/client/client.ts'
import { Limiter } from '../api/client/limiter.ts'
import type { ServiceRequest } from '../api/contract/service.ts'
import { startServer } from '../server/testing/startServer.ts'
import { type HclValue, hclArguments } from './generate/hcl.ts'
import { configurationOf, serviceRequests } from './testing/serviceRequests.ts'
import { cannotRunTerraform, terraformWorkspace } from './testing/terraformWorkspace.ts'

/** PHAROS_TEST_SOAK_ROUNDS=200 for a long one; PHAROS_TEST_SOAK_SEED repeats the one that failed. */
const ROUNDS = Number(process.env.PHAROS_TEST_SOAK_ROUNDS ?? 4)
const SEED = Number(process.env.PHAROS_TEST_SOAK_SEED ?? Math.floor(Math.random() * 1_000_000))

const LABELS = ['a', 'b', 'c', 'd'] as const
type Label = (typeof LABELS)[number]

interface Round {
  /** What the configuration says of a service from now on; `null` takes it out. */
  readonly edit: { readonly label: Label; readonly request: ServiceRequest | null }
  readonly byHand: {
    readonly what: 'replace' | 'pause' | 'resume' | 'delete' | 'nothing'
    readonly place: number
    readonly request: ServiceRequest
  }
}

const rounds: fc.Arbitrary<Round> = fc.record({
  edit: fc.record({
    label: fc.constantFrom(...LABELS),
    request: fc.option(serviceRequests, { freq: 5 }),
  }),
  byHand: fc.record({
    what: fc.constantFrom('replace', 'pause', 'resume', 'delete', 'nothing'),
    place: fc.nat(),
    request: serviceRequests,
  }),
})

function resource(label: string, request: ServiceRequest): string {
  const { name, interval, regions, endpoints } = configurationOf(request)
  const entries = Object.entries({ name, interval, regions, endpoints })
  // True because a configuration of which everything is known is made of what HCL can write.
  const values = entries.map(([attribute, value]) => [attribute, value as HclValue] as const)
  return `resource "pharos_service" "${label}" {\n${hclArguments(values, 2)}\n}\n`
}

async function meddle(client: Client, { what, place, request }: Round['byHand']): Promise<void> {
  const { services } = await client.listServices()
  const target = services[place % Math.max(services.length, 1)]
  if (target === undefined) return
  if (what === 'replace') await client.replaceService(target.id, request)
  if (what === 'pause') await client.pauseService(target.id)
  if (what === 'resume') await client.resumeService(target.id)
  if (what === 'delete') await client.deleteService(target.id)
}

describe.skipIf(cannotRunTerraform)('terraform', () => {
  test(
    `Scenario 73: after every apply the plan is empty, whatever was edited in configuration and API (${ROUNDS} rounds, seed ${SEED})`,
    async () => {
      const server = await startServer({ rateLimit: 'none' })
      const workspace = await terraformWorkspace({ url: server.url, apiKey: server.apiKey })
      const limiter = new Limiter({ burstRequests: 1_000, refillIntervalMs: 1 })
      const byHand = new Client({ url: server.url, apiKey: server.apiKey, userAgent: 'test', limiter })
      onTestFinished(async () => {
        await byHand.close()
        workspace.remove()
        await server.close()
      })
      const configured = new Map<Label, ServiceRequest>()

      for (const { edit, byHand: change } of fc.sample(rounds, { numRuns: ROUNDS, seed: SEED })) {
        if (edit.request === null) configured.delete(edit.label)
        else configured.set(edit.label, edit.request)
        await meddle(byHand, change)
        workspace.configure([...configured].map(([label, request]) => resource(label, request)).join('\n'))
        await workspace.succeed(['apply', '-auto-approve'])
        const { exitCode, output } = await workspace.run(['plan', '-detailed-exitcode'])
        expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' })
        const names = (await byHand.listServices()).services.map(({ name }) => name)
        // Terraform keeps every text in Unicode's normal form C.
        const wanted = [...configured.values()].map(({ name }) => name.normalize('NFC'))
        expect(names.sort()).toEqual(wanted.sort())
      }
    },
    // Each round starts terraform twice, for many seconds on a busy machine.
    Math.max(120_000, ROUNDS * 30_000),
  )
})
