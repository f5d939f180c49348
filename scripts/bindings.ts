/** Writes the provider's schema and its CDKTF bindings: `npm run bindings`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { generateBindings, generateSchema } from './generateBindings.ts'

const files = [generateSchema(), ...(await generateBindings())]
rmSync('provider/cdktf/gen', { recursive: true, force: true })
for (const { path, text } of files) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  process.stdout.write(`${path}\n`)
}
