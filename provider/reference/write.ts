/** Writes docs/provider: `npx tsx provider/reference/write.ts`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { currentPages } from './currentPages.ts'

const folder = 'docs/provider'
rmSync(folder, { recursive: true, force: true })
for (const { path, text } of currentPages()) {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  process.stdout.write(`${file}\n`)
}
