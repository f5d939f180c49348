/**
 * Builds everything that a user runs into dist/: the three commands, the provider executable and the CDKTF
 * bindings.
 *
 * Each file is written beside its place and renamed into it, and only when its bytes changed, so that a
 * test that runs at the same moment never sees half a program and an installed provider keeps its hash.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildBindings } from './buildBindings.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Bundled packages are CommonJS and call require(), which an ES module has to make for itself. */
const REQUIRE_IN_ESM =
  "import { createRequire as pharosCreateRequire } from 'node:module'; const require = pharosCreateRequire(import.meta.url);"

const programs = [
  { entry: 'reconciler/main.ts', out: 'pharos.js', format: 'esm' },
  { entry: 'server/main.ts', out: 'pharos-server.js', format: 'esm' },
  { entry: 'provider/cli.ts', out: 'pharos-provider.js', format: 'esm' },
  // Terraform starts a provider as it is. The extension keeps it CommonJS below any package.json.
  { entry: 'provider/main.ts', out: 'terraform-provider-pharos.cjs', format: 'cjs' },
]

function writeWhenChanged(file, bytes) {
  if (existsSync(file) && readFileSync(file).equals(bytes)) return
  const temporary = `${file}.${process.pid}.tmp`
  writeFileSync(temporary, bytes)
  chmodSync(temporary, 0o755)
  renameSync(temporary, file)
}

async function bundle({ entry, out, format }) {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: join('dist', out),
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format,
    // better-sqlite3 carries a native binary that cannot be part of a bundle.
    external: ['better-sqlite3'],
    banner: {
      js: `#!/usr/bin/env node\n${format === 'esm' ? REQUIRE_IN_ESM : ''}`,
    },
    legalComments: 'none',
    logLevel: 'warning',
  })
  writeWhenChanged(join(root, 'dist', out), Buffer.from(result.outputFiles[0].contents))
}

export async function buildAll() {
  mkdirSync(join(root, 'dist'), { recursive: true })
  await Promise.all(programs.filter(({ entry }) => existsSync(join(root, entry))).map(bundle))
  buildBindings(root, writeWhenChanged)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll()
