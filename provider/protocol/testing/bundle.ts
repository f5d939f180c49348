/** Bundles an entry point into one executable file, as a provider is shipped. */
import { chmodSync } from 'node:fs'
import { build } from 'esbuild'

/** Writes the bundle of `entry` to `executable`. */
export async function bundleExecutable(entry: string, executable: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile: executable,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    banner: { js: '#!/usr/bin/env node' },
    logLevel: 'error',
  })
  chmodSync(executable, 0o755)
}
