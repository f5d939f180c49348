import { existsSync, readFileSync } from 'node:fs'
import packageJson from '../../package.json' with { type: 'json' }
import { pharosProvider } from '../pharosProvider.ts'
import { type Page, referencePages } from './pages.ts'

/** The reference of the provider, with examples from examples/terraform. */
export function currentPages(): readonly Page[] {
  return referencePages(pharosProvider(packageJson.version, {}), (name) => {
    const file = `examples/terraform/${name}/main.tf`
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  })
}
