import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { DiagnosticError, errorAt } from './authoring/diagnostics.ts'
import { resourceFor } from './authoring/provider.ts'
import { defineSchema } from './authoring/schema.ts'
import { defineProvider } from './defineProvider.ts'
import { serveForReattach } from './reattach.ts'
import { connect } from './testing/providerClient.ts'
import { openCore, type TerraformCore } from './testing/terraformCore.ts'
import { UNKNOWN } from './values/value.ts'

const THING = 'faulty_thing'

/** The next behaviour of each handler. */
let read: () => { readonly state: object }
let configures: () => void
let core: TerraformCore

const thing = resourceFor<object>()({
  schema: defineSchema({
    attributes: {
      id: { type: 'string', computed: true, stable: true },
      size: { type: 'string', computed: true },
      password: { type: 'string', optional: true, writeOnly: true },
    },
  }),
  read: ({ report }) => {
    const result = read()
    if ('size' in result.state && result.state.size === 'doubtful') report(errorAt(['size'], 'Doubtful', ''))
    return result
  },
  create: () => ({ state: { id: 'one', size: 'small' } }),
  update: () => ({ state: {} }),
  delete: () => {},
})

const provider = defineProvider({
  name: 'faulty',
  version: '1.0.0',
  schema: defineSchema({ attributes: {} }),
  configure: () => {
    configures()
    return {}
  },
  resources: { [THING]: thing },
})

beforeEach(async () => {
  configures = () => {}
  const served = await serveForReattach(provider, ['pharos/faulty'])
  const client = connect(served.target)
  onTestFinished(() => {
    client.close()
    served.close()
  })
  core = await openCore(client)
  await core.configure({})
})

async function made() {
  return core.apply(THING, await core.plan(THING, { password: 'secret' }))
}

test('a read that reports an error leaves the stored state unchanged, whatever it returned', async () => {
  const stored = await made()
  read = () => ({ state: { size: 'doubtful' } })

  const outcome = await core.read(THING, stored)

  expect(outcome.state).toStrictEqual({ id: 'one', size: 'small', password: null })
  expect(outcome.diagnostics).toMatchObject([{ severity: 'error', summary: 'Doubtful' }])
})

test('a read that returns an unknown value is reported as a provider error, and changes no stored state', async () => {
  const stored = await made()
  read = () => ({ state: { size: UNKNOWN } })

  const outcome = await core.read(THING, stored)

  expect(outcome.state).toStrictEqual({ id: 'one', size: 'small', password: null })
  expect(outcome.diagnostics).toMatchObject([{ severity: 'error', path: 'size' }])
})

test('a write-only value that a read returns is in no state', async () => {
  const stored = await made()
  read = () => ({ state: { password: 'secret' } })

  const outcome = await core.read(THING, stored)

  expect(outcome).toMatchObject({ state: { id: 'one', size: 'small', password: null }, diagnostics: [] })
})

test('a provider that cannot be reconfigured does not continue with its former configuration', async () => {
  const stored = await made()
  read = () => ({ state: {} })
  configures = () => {
    throw new DiagnosticError(errorAt(undefined, 'No such place', ''))
  }

  const refused = await core.configure({})
  const outcome = await core.read(THING, stored)

  expect(refused).toMatchObject([{ summary: 'No such place' }])
  expect(outcome.diagnostics).toMatchObject([{ summary: 'The provider is not configured' }])
})
