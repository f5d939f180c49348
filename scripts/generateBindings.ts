import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { PROVIDER_ADDRESS, REGISTRY_HOSTS } from '../provider/distribution/mirror.ts'
import { schemaDocument } from '../provider/docs/schemaDocument.ts'
import { pharosProvider } from '../provider/pharosProvider.ts'

/**
 * Versions of the provider for the bindings: this minor version and later ones, below the next major version. CDKTF's
 * own command refuses to deploy a stack whose provider has no version.
 */
const VERSIONS = `~> ${packageJson.version.split('.').slice(0, 2).join('.')}`

/** A generated file: path from the root of the repository, and text. */
export interface Generated {
  readonly path: string
  readonly text: string
}

/** The provider's schema as a file, so that a change of the public interface is visible as a diff. */
export function generateSchema(): Generated {
  const document = schemaDocument(pharosProvider(packageJson.version, {}), address())
  return { path: 'provider/provider-schema.json', text: `${JSON.stringify(document, null, 2)}\n` }
}

function address(): string {
  return `${REGISTRY_HOSTS[0]}/${PROVIDER_ADDRESS}`
}

/** The CDKTF bindings, generated from the schema by CDKTF's own generator, without network. */
export async function generateBindings(): Promise<readonly Generated[]> {
  // When loaded, the generator searches for terraform and its configuration, and reports them to a server.
  const environment = { CHECKPOINT_DISABLE: '1', DISABLE_VERSION_CHECK: '1', TF_CLI_CONFIG_FILE: '/dev/null' }
  Object.assign(process.env, environment)
  const require = createRequire(import.meta.url)
  // Its index needs jsii-pacmak, which only other languages use.
  const {
    TerraformProviderGenerator,
  } = require('@cdktf/provider-generator/lib/get/generator/provider-generator')
  const { CodeMaker } = require('codemaker')
  const generator = new TerraformProviderGenerator(new CodeMaker(), JSON.parse(generateSchema().text))
  generator.generate({
    isModule: false,
    isProvider: true,
    name: 'pharos',
    source: PROVIDER_ADDRESS,
    version: VERSIONS,
  })
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bindings-'))
  try {
    await generator.save(folder)
    const root = join(folder, 'providers/pharos')
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name === 'index.ts' && entry.parentPath !== root)
      .map((entry) => {
        const file = join(entry.parentPath, entry.name)
        const text = withoutLinks(readFileSync(file, 'utf8'))
        return { path: join('provider/cdktf/.gen', relative(root, file)), text }
      })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Removes the generator's links to the public registry, where this provider has no pages. */
function withoutLinks(text: string): string {
  return text
    .replace(/^\/\/ https:.*\n/, '')
    .replaceAll(/(?: *\*\n)? *\* Docs at Terraform Registry: \{@link [^}]*\}\n/g, '')
    .replaceAll(/\{@link https:\S+\/providers\/pharos\/\S+ ([^}]*)\}/g, '$1')
}
