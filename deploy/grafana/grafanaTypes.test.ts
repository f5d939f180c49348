import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Dashboard } from '@grafana/schema'
import { beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'

const FILES = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json'))
const root = resolve(import.meta.dirname, '../..')
/** Grafana's own types of a dashboard, and of the settings of each kind of panel in our dashboards. */
const TYPES = `import type { Dashboard } from '@grafana/schema'
import type * as timeseries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen'
import type * as stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen'
import type * as table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen'
// JSON has the values of its enumerations.
type Json<T> = T extends string ? \`\${T}\` : T extends readonly (infer Item)[] ? Json<Item>[]
  : T extends object ? { [Key in keyof T]: Json<T[Key]> } : T
type Options = Json<{ timeseries: timeseries.Options; stat: stat.Options; table: table.Options }>
type Custom = Json<{ timeseries: timeseries.FieldConfig; stat: Record<never, never>; table: table.FieldConfig }>
`

const folder = suiteFolder()
beforeAll(() => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
})

/** The compiler's errors for a dashboard as a literal of Grafana's types; empty when it has the type. */
function complaintsOf(dashboard: Dashboard): string {
  const lines = [`export const dashboard = ${JSON.stringify(dashboard)} satisfies Json<Dashboard>`]
  for (const panel of dashboard.panels ?? []) {
    const { id, type, options, fieldConfig } = { options: undefined, fieldConfig: undefined, ...panel }
    lines.push(
      `export const o${id} = ${JSON.stringify(options ?? {})} satisfies Partial<Options['${type}']>`,
      `export const c${id} = ${JSON.stringify(fieldConfig?.defaults?.custom ?? {})} satisfies Partial<Custom['${type}']>`,
    )
  }
  writeFileSync(join(folder, 'dashboard.ts'), `${TYPES}${lines.join('\n')}\n`)
  const settings = ['--strict', '--noEmit', '--skipLibCheck', '--moduleResolution', 'bundler']
  try {
    execFileSync(
      join(root, 'node_modules/.bin/tsc'),
      ['--ignoreConfig', ...settings, '--module', 'esnext', '--types', '', 'dashboard.ts'],
      { cwd: folder, encoding: 'utf8', stdio: 'pipe' },
    )
    return ''
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
  }
}

const read = (file: string): Dashboard =>
  // True because the compiler has the last word on it.
  JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Dashboard

test.each(FILES)("%s and the settings of its panels conform to Grafana's own types", (file) => {
  expect(complaintsOf(read(file))).toBe('')
})

test('a setting that Grafana does not have violates its types', () => {
  const [first, ...others] = read('server.json').panels ?? []

  const wrong = { ...read('server.json'), panels: [{ ...first, options: { colour: 'red' } }, ...others] }

  expect(complaintsOf(wrong as Dashboard)).toMatch(/'"?colour"?' does not exist/)
  expect(complaintsOf({ ...read('server.json'), schemaVersion: '39' } as unknown as Dashboard)).toContain(
    "Type 'string' is not assignable to type 'number'",
  )
})
