import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Reattachable, serveForReattach } from './reattach.ts'
import { connect, METHODS, type ProviderClient } from './testing/providerClient.ts'
import { sampleProvider } from './testing/sampleProvider.ts'
import {
  NOTHING,
  type Outcome,
  openCore,
  type PlainObject,
  type StoredObject,
  type TerraformCore,
} from './testing/terraformCore.ts'
import { encodeMsgpack } from './values/msgpack.ts'
import { Decimal } from './values/number.ts'
import { UNKNOWN } from './values/value.ts'

const NOTE = 'sample_note'

let root: string
let directory: string
let served: Reattachable
let client: ProviderClient
let core: TerraformCore

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'notes-'))
  served = await serveForReattach(sampleProvider(), ['pharos/sample'])
  client = connect(served.target)
  core = await openCore(client)
})

afterAll(() => {
  client.close()
  served.close()
  rmSync(root, { recursive: true, force: true })
})

beforeEach(async () => {
  directory = mkdtempSync(join(root, 'd-'))
  await core.configure({ directory })
})

/** Plans and applies; fails the test when the plan has errors. */
async function applied(config: PlainObject, prior: StoredObject = NOTHING): Promise<Outcome> {
  const plan = await core.plan(NOTE, config, prior)
  expect(plan.diagnostics.filter(({ severity }) => severity === 'error')).toStrictEqual([])
  return core.apply(NOTE, plan)
}

const summaries = ({ diagnostics }: Outcome): readonly string[] =>
  diagnostics.map(({ severity, path, summary }) => `${severity} ${path}: ${summary}`)

describe('plan', () => {
  test('a create plans what the hook decides, and other computed attributes as unknown', async () => {
    const plan = await core.plan(NOTE, { title: 'a', sections: [{ heading: 'One' }] })

    expect(plan.state).toStrictEqual({
      id: UNKNOWN,
      title: 'a',
      author: null,
      interval: null,
      color: 'white',
      weight: null,
      tags: null,
      labels: null,
      sections: [{ heading: 'One', lines: null, anchor: UNKNOWN, passphrase: null }],
      passphrase: null,
      passphrase_revision: UNKNOWN,
      revision: UNKNOWN,
      trouble: null,
    })
  })

  test('the plan of an unchanged object is its state', async () => {
    const config = { title: 'a', tags: ['x', 'y'], weight: '0.1', labels: { k: 'v' }, passphrase: 's' }
    const note = await applied(config)

    const plan = await core.plan(NOTE, { ...config, tags: ['y', 'x'] }, note)

    expect({ ...plan.state, tags: null }).toStrictEqual({ ...note.state, tags: null })
  })

  test('an update keeps stable computed attributes and makes the other ones unknown', async () => {
    const note = await applied({ title: 'a' })

    const plan = await core.plan(NOTE, { title: 'b' }, note)

    expect(plan.state).toStrictEqual({ ...note.state, title: 'b', revision: UNKNOWN })
  })

  test('another spelling of the same value is no change', async () => {
    const note = await applied({ title: 'a', interval: '60s' })

    const plan = await core.plan(NOTE, { title: 'a', interval: '1m' }, note)

    expect(plan.state).toStrictEqual(note.state)
  })

  test('a change that requires replacement names the path of its attribute', async () => {
    const note = await applied({ title: 'a', author: 'me' })

    const plan = await core.plan(NOTE, { title: 'a', author: 'you' }, note)

    expect(plan.requiresReplace).toStrictEqual(['author'])
  })

  test('a change that only the hook sees makes the other computed attributes unknown too', async () => {
    const note = await applied({ title: 'a', passphrase: 'one' })

    const plan = await core.plan(NOTE, { title: 'a', passphrase: 'two' }, note)

    expect(plan.state).toStrictEqual({ ...note.state, passphrase_revision: UNKNOWN, revision: UNKNOWN })
  })

  test('an unknown argument is planned as unknown', async () => {
    const plan = await core.plan(NOTE, { title: UNKNOWN, labels: new Map([['k', UNKNOWN]]) })

    expect([plan.state?.title, plan.state?.labels]).toStrictEqual([UNKNOWN, new Map([['k', UNKNOWN]])])
  })

  test('a delete is planned as null, and the hook may warn', async () => {
    const note = await applied({ title: 'a', trouble: 'warn' })

    const plan = await core.plan(NOTE, null, note)

    expect([plan.state, summaries(plan)]).toStrictEqual([null, ['warning : This note will be missed']])
  })
})

describe('apply', () => {
  test('Scenario 71: numbers keep every digit from configuration to state and back', async () => {
    const weight = '3.14159265358979323846'
    const note = await applied({ title: 'a', weight })

    const read = await core.read(NOTE, note)

    expect(read.state?.weight).toStrictEqual(new Decimal('314159265358979323846e-20'))
  })

  test('write-only values are in no state, at any depth', async () => {
    const note = await applied({
      title: 'a',
      passphrase: 'canary',
      sections: [{ heading: 'One', passphrase: 'canary' }],
    })

    expect(JSON.stringify(note.state)).not.toContain('canary')
  })

  test('a create that fails before the object exists saves nothing', async () => {
    const note = await applied({ title: 'a', trouble: 'early' })

    expect([note.state, summaries(note)]).toStrictEqual([
      null,
      ['error : Creating sample_note failed unexpectedly'],
    ])
  })

  test('a create that fails after the object exists saves its partial state', async () => {
    const note = await applied({ title: 'a', trouble: 'throw' })

    const [file = ''] = readdirSync(directory)
    expect(note.state).toMatchObject({ id: file.replace('.json', ''), title: 'a', revision: null })
  })

  test('an update that fails before anything changed saves the prior state and its private bytes', async () => {
    const note = await applied({ title: 'a', passphrase: 'one' })

    const failed = await applied({ title: 'b', passphrase: 'two', trouble: 'throw' }, note)

    expect([failed.state, failed.private]).toStrictEqual([note.state, note.private])
  })

  test('an update that fails half-way saves its partial state', async () => {
    const note = await applied({ title: 'a' })

    const failed = await applied({ title: 'b', author: null, trouble: 'half' }, note)

    expect(failed.state).toStrictEqual({ ...note.state, title: 'b', revision: 2 })
  })

  test('a delete that fails keeps the state', async () => {
    const note = await applied({ title: 'a', trouble: 'delete-refuse' })

    const plan = await core.plan(NOTE, null, note)
    const failed = await core.apply(NOTE, plan)

    expect([failed.state, summaries(failed)]).toStrictEqual([
      note.state,
      ['error trouble: The service refused'],
    ])
  })

  test('a replacement whose delete fails keeps the private bytes of the object that is still there', async () => {
    const note = await applied({ title: 'a', passphrase: 'one', trouble: 'delete-refuse' })
    const config = { title: 'a', passphrase: 'two', author: 'me' }

    const first = await core.plan(NOTE, config, note)
    const second = await core.plan(NOTE, config, { state: null, private: first.private })
    const failed = await core.apply(NOTE, { ...second, state: null, config: null, prior: note })

    expect([failed.state, failed.private]).toStrictEqual([note.state, note.private])
  })

  test('a result that differs from the plan is saved as planned, with a warning', async () => {
    const note = await applied({ title: 'a', trouble: 'other-title' })

    expect([note.state?.title, summaries(note)]).toStrictEqual([
      'a',
      ['warning title: Bug in the provider: sample_note broke a rule of Terraform'],
    ])
  })

  test('a result with a write-only value is saved without it, with a warning', async () => {
    const note = await applied({ title: 'a', trouble: 'leak' })

    expect([note.state?.passphrase, summaries(note)]).toStrictEqual([
      null,
      ['warning passphrase: Bug in the provider: sample_note broke a rule of Terraform'],
    ])
  })

  test('StopProvider aborts a waiting create, and its partial state is saved', async () => {
    const plan = await core.plan(NOTE, { title: 'a', trouble: 'wait' })

    const creating = core.apply(NOTE, plan)
    await core.stop()
    const note = await creating

    const [file = ''] = readdirSync(directory)
    expect([note.state?.id, summaries(note)]).toStrictEqual([
      file.replace('.json', ''),
      ['error : Creating sample_note was stopped'],
    ])
  })
})

describe('read, import and upgrade', () => {
  test('a deleted object reads as null', async () => {
    const note = await applied({ title: 'a' })
    rmSync(directory, { recursive: true })

    const read = await core.read(NOTE, note)

    expect(read.state).toBe(null)
  })

  test('a read keeps private bytes', async () => {
    const note = await applied({ title: 'a', passphrase: 'one' })

    const read = await core.read(NOTE, note)

    expect([note.private.length, read.private]).toStrictEqual([32, note.private])
  })

  test('an import and the read after it return the whole object', async () => {
    const note = await applied({ title: 'a', labels: { k: 'v' } })

    const imported = await core.import(NOTE, String(note.state?.id))
    const read = await core.read(NOTE, imported)

    expect(read.state).toStrictEqual({ ...note.state, passphrase_revision: null })
  })

  test('Scenario 64: state of an older version is upgraded: removed attributes are dropped, and new ones are null', async () => {
    const upgraded = await core.upgrade(
      NOTE,
      0,
      '{"name": "a", "weight": 12345678901234567890, "gone": [1], "passphrase": "stored by mistake"}',
    )

    expect(upgraded.state).toStrictEqual({
      id: null,
      title: 'a',
      author: null,
      interval: null,
      color: null,
      weight: 12345678901234567890n,
      tags: null,
      labels: null,
      sections: null,
      passphrase: null,
      passphrase_revision: null,
      revision: null,
      trouble: null,
    })
  })

  test('a data source keeps its configuration and adds its results', async () => {
    const note = await applied({ title: 'a' })

    const found = await core.readData(NOTE, { id: note.state?.id })

    expect(found.state).toStrictEqual({ id: note.state?.id, title: 'a' })
  })
})

describe('validate', () => {
  test('errors of validation name their path', async () => {
    const diagnostics = await core.validate(NOTE, { title: '', author: 'none' })

    expect(diagnostics.map(({ path, summary }) => `${path}: ${summary}`)).toStrictEqual([
      'title: Empty title',
      'author: No author',
    ])
  })

  test('unknown values are not validated', async () => {
    const diagnostics = await core.validate(NOTE, { title: UNKNOWN, tags: UNKNOWN, sections: UNKNOWN })

    expect(diagnostics).toStrictEqual([])
  })

  test('a null element of a collection is refused before the resource sees it', async () => {
    const diagnostics = await core.validate(NOTE, { title: 'a', author: 'none', labels: { k: null } })

    expect(diagnostics.map(({ path, summary }) => `${path}: ${summary}`)).toStrictEqual([
      'labels["k"]: Null element',
    ])
  })

  test('a configured value for a computed attribute is refused, at any depth, even when it is unknown', async () => {
    const sections = [{ heading: 'One', anchor: 'top' }]

    const diagnostics = await core.validate(NOTE, { title: 'a', id: 'abc', revision: UNKNOWN, sections })

    expect(diagnostics.map(({ summary }) => summary)).toStrictEqual(
      Array.from({ length: 3 }, () => 'Invalid Configuration for Read-Only Attribute'),
    )
    expect(diagnostics.map(({ path }) => path)).toStrictEqual(['id', 'sections[0]', 'revision'])
    expect(diagnostics[1]?.detail).toContain('Cannot set a value for sections[0].anchor')
  })

  test('a configured value for a computed attribute of a data source is refused', async () => {
    const { diagnostics } = await client.call(METHODS.ValidateDataResourceConfig, {
      typeName: NOTE,
      config: { msgpack: encodeMsgpack({ id: 'a', title: 'b' }) },
    })

    expect(diagnostics).toMatchObject([
      {
        summary: 'Invalid Configuration for Read-Only Attribute',
        attribute: { steps: [{ attributeName: 'title' }] },
      },
    ])
  })

  test('a required attribute must not be null, at any depth, and may be unknown', async () => {
    const missing = await core.validate(NOTE, { author: 'none', sections: [{ heading: null }] })
    const unknown = await core.validate(NOTE, { title: UNKNOWN, sections: [{ heading: UNKNOWN }] })
    const provider = await client.call(METHODS.ValidateProviderConfig, {
      config: { msgpack: encodeMsgpack({ directory: null }) },
    })

    expect(missing.map(({ path, summary }) => `${path}: ${summary}`)).toStrictEqual([
      'title: Missing Configuration for Required Attribute',
      'sections[0]: Missing Configuration for Required Attribute',
    ])
    expect(missing[1]?.detail).toContain('sections[0].heading')
    expect(unknown).toStrictEqual([])
    expect(provider.diagnostics).toMatchObject([{ summary: 'Missing Configuration for Required Attribute' }])
  })

  test('Scenario 32: a client without support for write-only attributes is told which version has it', async () => {
    const diagnostics = await core.validate(
      NOTE,
      { title: 'a', sections: [{ heading: 'One', passphrase: UNKNOWN }] },
      { writeOnlyAttributesAllowed: false },
    )

    expect(diagnostics.map(({ path, summary }) => `${path}: ${summary}`)).toStrictEqual([
      'sections[0]: Write-only attributes need Terraform 1.11 or OpenTofu 1.11',
    ])
  })
})

describe('RPCs', () => {
  test('an RPC that is not offered is declined by name', async () => {
    const method = { ...METHODS.GetFunctions, path: '/tfplugin6.Provider/MoveResourceState' }

    const declined = client.call(method, {})

    await expect(declined).rejects.toMatchObject({
      code: status.UNIMPLEMENTED,
      details: 'the sample provider does not offer moving state between resource types (MoveResourceState)',
    })
  })

  test('there are no functions', async () => {
    const { diagnostics } = await client.call(METHODS.GetFunctions, {})

    expect(diagnostics).toStrictEqual([])
  })

  test('the metadata names every type', async () => {
    const metadata = await client.call(METHODS.GetMetadata, {})

    expect([metadata.resources, metadata.dataSources]).toStrictEqual([
      [{ typeName: NOTE }],
      [{ typeName: NOTE }],
    ])
  })

  test('Scenario 70: a state of 8 MiB is read and written', async () => {
    const title = 'x'.repeat(8 * 1024 * 1024)

    const note = await applied({ title })

    expect(note.state?.title === title).toBe(true)
  })
})
