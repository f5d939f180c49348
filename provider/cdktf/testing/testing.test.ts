import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { cannotRunTerraform, installBuiltProvider } from '../../testing/terraformWorkspace.ts'
import { type Library, libraries, type Stack } from './libraries.ts'

/** A stack with one service, whose name is `name`. */
function stackOf({ terraform, pharos }: Library, name: string): Stack {
  const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
  new pharos.PharosProvider(stack, 'pharos')
  new pharos.MonitoredService(stack, 'website', {
    name,
    regions: ['eu-west-1'],
    endpoints: pharos.get('https://www.example.com/'),
  })
  return stack
}

describe.each(libraries)("the library's own Testing, of $name", (library) => {
  const { Testing } = library.terraform

  test('finds the resource and the provider that a program makes', () => {
    const document = Testing.synth(stackOf(library, 'website'))

    expect(Testing.toHaveProvider(document, 'pharos')).toBe(true)
    expect(Testing.toHaveResourceWithProperties(document, 'pharos_service', { name: 'website' })).toBe(true)
    expect(Testing.toHaveResourceWithProperties(document, 'pharos_service', { name: 'shop' })).toBe(false)
  })

  test('synthesises one service to exactly this document', () => {
    const { resource, provider, terraform } = JSON.parse(Testing.synth(stackOf(library, 'website')))

    expect(provider).toEqual({ pharos: [{}] })
    expect(terraform.required_providers).toEqual({ pharos: { source: 'pharos/pharos', version: '~> 0.2' } })
    const { '//': _, ...attributes } = resource.pharos_service.website
    expect(attributes).toMatchInlineSnapshot(`
      {
        "endpoints": [
          {
            "assertions": [
              {
                "status_code": {
                  "between": [
                    200,
                    299,
                  ],
                },
              },
            ],
            "http": {
              "method": "GET",
            },
            "url": "https://www.example.com/",
          },
        ],
        "interval": "1m",
        "name": "website",
        "regions": [
          "eu-west-1",
        ],
      }
    `)
  })
})

describe.skipIf(cannotRunTerraform)('terraform', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-testing-'))

  // The library starts terraform in this process's environment.
  beforeAll(() => {
    writeFileSync(join(folder, 'terraform.rc'), installBuiltProvider(join(folder, 'mirror')))
    vi.stubEnv('TF_CLI_CONFIG_FILE', join(folder, 'terraform.rc'))
    vi.stubEnv('CHECKPOINT_DISABLE', '1')
  })
  afterAll(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })

  test.each(libraries)(
    'accepts the full synthesis on $name as valid, and rejects an invalid one',
    (library) => {
      const { Testing } = library.terraform

      expect(Testing.toBeValidTerraform(Testing.fullSynth(stackOf(library, 'website')))).toBe(true)
      expect(Testing.toBeValidTerraform(Testing.fullSynth(stackOf(library, '')))).toBe(false)
    },
  )
})
