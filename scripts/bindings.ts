/**
 * Writes the files generated from the provider: its schema, its CDKTF bindings and its reference. `npm run bindings`.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { currentPages } from '../provider/docs/currentPages.ts'
import { generateBindings, generateSchema } from './generateBindings.ts'

const REFERENCE = 'docs/provider'
const BINDINGS = 'provider/cdktf/.gen'

const pages = currentPages().map(({ path, text }) => ({ path: join(REFERENCE, path), text }))
const files = [generateSchema(), ...(await generateBindings()), ...pages]
for (const folder of [REFERENCE, BINDINGS]) rmSync(folder, { recursive: true, force: true })
for (const { path, text } of files) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  process.stdout.write(`${path}\n`)
}
