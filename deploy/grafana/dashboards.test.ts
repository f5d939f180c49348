import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'

const FILES = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json'))

const dataSource = z.strictObject({
  type: z.literal('prometheus'),
  uid: z.string().regex(/^\$\{datasource\}$/),
})
const variable = z.discriminatedUnion('type', [
  z.strictObject({
    name: z.literal('datasource'),
    label: z.string(),
    type: z.literal('datasource'),
    query: z.literal('prometheus'),
  }),
  z.strictObject({
    name: z.string(),
    label: z.string(),
    type: z.literal('query'),
    datasource: dataSource,
    query: z.strictObject({ query: z.string(), refId: z.string() }),
    // 2 refreshes the values when the time range changes, 1 sorts them.
    refresh: z.literal(2),
    sort: z.literal(1),
    multi: z.literal(true),
    includeAll: z.literal(true),
    allValue: z.literal('.*'),
    current: z.strictObject({ text: z.array(z.string()), value: z.array(z.string()) }),
  }),
])
const step = z.strictObject({ color: z.string(), value: z.number().nullable() })
const panel = z.strictObject({
  id: z.int().positive(),
  type: z.enum(['stat', 'timeseries', 'table']),
  title: z.string().min(3),
  description: z.string().min(10),
  datasource: dataSource,
  gridPos: z.strictObject({
    x: z.int().min(0),
    y: z.int().min(0),
    w: z.int().max(24),
    h: z.int().positive(),
  }),
  targets: z
    .array(
      z.strictObject({
        refId: z.string(),
        expr: z.string(),
        legendFormat: z.string(),
        instant: z.literal(true).optional(),
        format: z.literal('table').optional(),
      }),
    )
    .min(1),
  fieldConfig: z.strictObject({
    defaults: z.strictObject({
      unit: z.enum(['s', 'ops', 'reqps', 'bytes', 'percentunit']).optional(),
      min: z.number().optional(),
      thresholds: z.strictObject({ mode: z.literal('absolute'), steps: z.array(step) }).optional(),
      custom: z.object({}).loose().optional(),
    }),
    overrides: z.tuple([]),
  }),
  options: z.object({}).loose().optional(),
  transformations: z
    .array(z.strictObject({ id: z.literal('organize'), options: z.object({}).loose() }))
    .optional(),
})
/** The parts of a dashboard of schema version 39 (Grafana 11) that ours use. */
const dashboard = z.strictObject({
  uid: z.string().max(40),
  title: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  schemaVersion: z.literal(39),
  version: z.int(),
  editable: z.boolean(),
  refresh: z.string(),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  timezone: z.literal('browser'),
  templating: z.strictObject({ list: z.array(variable) }),
  panels: z.array(panel),
})

/** The dashboard of a file; throws where it has another form. */
const read = (file: string) =>
  dashboard.parse(JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')))

/** Items that occur more than once. */
const repeated = (items: readonly unknown[]): readonly unknown[] =>
  items.filter((item, index) => items.indexOf(item) !== index)

test.each(FILES)('%s conforms to schema version 39, with unique ids and titles', (file) => {
  const { panels, templating } = read(file)

  expect(panels.length).toBeGreaterThan(5)
  expect(repeated(panels.map(({ id }) => id))).toEqual([])
  expect(repeated(panels.map(({ title }) => title))).toEqual([])
  expect(panels.flatMap(({ targets }) => repeated(targets.map(({ refId }) => refId)))).toEqual([])
  expect(templating.list[0]?.type).toBe('datasource')
})

test.each(FILES)('the panels of %s fit into the width of 24 and do not overlap', (file) => {
  const cells = read(file).panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => [x + (index % w), y + Math.floor(index / w)]),
  )

  expect(cells.filter(([x = 0]) => x >= 24)).toEqual([])
  expect(repeated(cells.map(String))).toEqual([])
})

test.each(FILES)('%s uses each of its variables, and no other', (file) => {
  const { panels, templating } = read(file)
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

  const used = expressions.flatMap((expr) => [...expr.matchAll(/\$(\w+)/g)].map(([, name = '']) => name))

  const own = new Set(used.filter((name) => name !== '__rate_interval' && name !== 'datasource'))
  const declared = templating.list.map(({ name }) => name).filter((name) => name !== 'datasource')
  expect([...own].sort()).toEqual(declared.sort())
})

test('each dashboard has a unique id', () => {
  expect(FILES.length).toBe(3)
  expect(repeated(FILES.map((file) => read(file).uid))).toEqual([])
})
