import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Reattachable, serveForReattach } from './reattach.ts'
import { bundleExecutable } from './testing/bundle.ts'
import { sampleProvider } from './testing/sampleProvider.ts'
import {
  findTerraform,
  installing,
  openTerraformDirectory,
  type TerraformDirectory,
} from './testing/terraformCli.ts'

const cannotRun = findTerraform() === undefined

let root: string
let executable: string
/** The sample provider runs in this process: most tests need neither a provider process nor an init. */
let served: Reattachable

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'real-'))
  executable = join(root, 'terraform-provider-sample')
  await bundleExecutable(fileURLToPath(new URL('./testing/sampleMain.ts', import.meta.url)), executable)
  served = await serveForReattach(sampleProvider(), [
    'registry.terraform.io/pharos/sample',
    'registry.opentofu.org/pharos/sample',
  ])
})

afterAll(() => {
  served.close()
  rmSync(root, { recursive: true, force: true })
})

interface Workshop extends TerraformDirectory {
  readonly notes: string
  /** Writes a configuration with the provider block and `body`. */
  write(body: string): void
}

function workshop(directory: TerraformDirectory): Workshop {
  onTestFinished(() => directory.remove())
  const notes = join(directory.path, 'notes')
  const write = (body: string): void =>
    directory.configure(`
      terraform {
        required_providers {
          sample = { source = "pharos/sample" }
        }
      }
      provider "sample" {
        directory = "${notes}"
      }
      ${body}`)
  return { ...directory, notes, write }
}

/** A directory in which Terraform talks to the provider in this process. */
function running(body: string): Workshop {
  const environment = { TF_REATTACH_PROVIDERS: served.environmentValue }
  const terraform = workshop(openTerraformDirectory({ environment }))
  terraform.write(body)
  return terraform
}

/** A directory in which Terraform starts the installed executable. */
async function initialised(body: string): Promise<Workshop> {
  const install = installing({ executable, source: 'pharos/sample', version: '0.1.0' })
  const terraform = workshop(openTerraformDirectory({ install }))
  terraform.write(body)
  const init = await terraform.run('init')
  expect(init).toMatchObject({ exitCode: 0 })
  return terraform
}

/** Applies and then plans; the plan after an apply must be empty. */
async function applyTwice(terraform: Workshop): Promise<string> {
  const apply = await terraform.run('apply', '-auto-approve')
  expect(apply).toMatchObject({ exitCode: 0, stderr: '' })
  const plan = await terraform.run('plan', '-detailed-exitcode')
  expect(plan).toMatchObject({ exitCode: 0, stderr: '' })
  return apply.stdout
}

const FULL = `
  resource "sample_note" "a" {
    title      = "hello"
    interval   = "60s"
    weight     = 3.14159265358979323846
    tags       = ["b", "a", "b"]
    labels     = { x = "1", y = "u\\u0308" }
    passphrase = "canary-1"
    sections = [
      { heading = "One", lines = [], passphrase = "canary-2" },
      { heading = "Two" },
    ]
  }`

describe.skipIf(cannotRun)('terraform', () => {
  test('creates, finds nothing to do, and destroys', async () => {
    const terraform = await initialised(FULL)

    const created = await applyTwice(terraform)
    const destroyed = await terraform.run('destroy', '-auto-approve')

    expect(created).toContain('1 added, 0 changed, 0 destroyed')
    expect(destroyed.stdout).toContain('Destroy complete! Resources: 1 destroyed.')
    expect(readdirSync(terraform.notes)).toStrictEqual([])
  })

  test('applies over TCP with mutual TLS, as on Windows', async () => {
    const terraform = await initialised(FULL)
    // The path of a socket below it would be too long, and Windows has no sockets.
    const deep = join(root, 'd'.repeat(60), 'e'.repeat(60))
    mkdirSync(deep, { recursive: true })
    const environment = { TMPDIR: deep, TF_LOG: 'debug' }

    const apply = await terraform.runWith(environment, 'apply', '-auto-approve')

    expect(apply.exitCode).toBe(0)
    expect(apply.stderr).toContain('configuring client automatic mTLS')
    // In Terraform's range of ports, 10000 to 25000.
    expect(apply.stderr).toMatch(/listening: .*address=127\.0\.0\.1:[12]\d{4}/)
    expect(apply.stdout).toContain('1 added')
  })

  test('updates what changed, even if only a write-only value did, which is never in the state, and replaces the object when an attribute requires it', async () => {
    const terraform = running(FULL)
    await applyTwice(terraform)
    const state = terraform.stateText()
    const other = FULL.replace('canary-1', 'canary-3')
    terraform.write(other)
    const secretUpdated = await applyTwice(terraform)
    const changed = other.replace('hello', 'changed').replace('"Two"', '"Three"')
    terraform.write(changed)
    const updated = await applyTwice(terraform)
    terraform.write(changed.replace('interval', 'author = "me"\n    interval'))
    const replaced = await applyTwice(terraform)

    expect(state).toContain('"weight": 3.14159265358979323846')
    for (const text of [state, terraform.stateText()]) expect(text).not.toContain('canary')
    expect(secretUpdated).toContain('0 added, 1 changed, 0 destroyed')
    expect(updated).toContain('0 added, 1 changed, 0 destroyed')
    expect(replaced).toContain('1 added, 0 changed, 1 destroyed')
  })

  test('plans with values that are known only after apply, refined ones too', async () => {
    const terraform = running(`
      resource "sample_note" "a" {
        title = "first"
      }
      resource "sample_note" "b" {
        title  = "after \${sample_note.a.id}"
        author = sample_note.a.id
        labels = { of = "note-\${sample_note.a.id}" }
        tags   = [sample_note.a.id]
        sections = [for heading in [sample_note.a.id] : { heading = "about \${heading}" }]
      }
      data "sample_note" "a" {
        id = sample_note.a.id
      }
      output "found" {
        value = data.sample_note.a.title
      }`)

    const output = await applyTwice(terraform)

    expect(output).toContain('found = "first"')
  })

  test('detects objects that were changed or removed outside Terraform', async () => {
    const terraform = running('resource "sample_note" "a" {\n title = "mine"\n}')
    await terraform.run('apply', '-auto-approve')
    const [file = ''] = readdirSync(terraform.notes)
    const path = join(terraform.notes, file)

    writeFileSync(path, readFileSync(path, 'utf8').replace('mine', 'theirs'))
    const changed = await terraform.run('plan')
    rmSync(path)
    const removed = await terraform.run('plan')

    expect(changed.stdout).toContain('"theirs" -> "mine"')
    expect(removed.stdout).toContain('Plan: 1 to add, 0 to change, 0 to destroy.')
  })

  test('imports an object, and the plan after it is empty', async () => {
    const body = 'resource "sample_note" "a" {\n title = "kept"\n}'
    const terraform = running(body)
    await terraform.run('apply', '-auto-approve')
    const [file = ''] = readdirSync(terraform.notes)
    rmSync(join(terraform.path, 'terraform.tfstate'))

    const imported = await terraform.run('import', 'sample_note.a', file.replace('.json', ''))
    const plan = await terraform.run('plan', '-detailed-exitcode')

    expect([imported.exitCode, plan.exitCode]).toStrictEqual([0, 0])
  })

  test('keeps an object whose create failed half-way as tainted', async () => {
    const terraform = running('resource "sample_note" "a" {\n title = "a"\n trouble = "throw"\n}')

    const failed = await terraform.run('apply', '-auto-approve')
    const state = terraform.stateText()

    expect(failed.stderr).toContain('Creating sample_note failed unexpectedly')
    expect(JSON.parse(state)).toMatchObject({ resources: [{ instances: [{ status: 'tainted' }] }] })
  })

  test('quotes the line of an argument that validation refuses', async () => {
    const terraform = running('resource "sample_note" "a" {\n title = ""\n}')

    const { exitCode, stderr } = await terraform.run('validate')

    expect(exitCode).toBe(1)
    expect(stderr).toContain('title = ""')
    expect(stderr).toContain('Empty title')
  })

  test('prints the schema with write-only attributes and descriptions', async () => {
    const terraform = running(FULL)

    const { stdout } = await terraform.run('providers', 'schema', '-json')

    expect(JSON.parse(stdout).provider_schemas['registry.terraform.io/pharos/sample']).toMatchObject({
      resource_schemas: {
        sample_note: {
          version: 1,
          block: { attributes: { passphrase: { type: 'string', optional: true, write_only: true } } },
        },
      },
    })
  })
})
