import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import ignore from 'ignore'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { type LanguageServer, startLanguageServer } from '../../testing/languageServer.ts'
import { manifestOf } from '../../testing/manifestOf.ts'
import { manifestJsonSchema } from './jsonSchema.ts'
import { schemaCatalogue } from './schemaCatalogue.ts'

/** What SchemaStore requires of a catalogue, and of an entry without versions. */
const catalogue = z.strictObject({
  $schema: z.literal('https://json.schemastore.org/schema-catalog.json'),
  version: z.literal(1),
  schemas: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        description: z.string().min(1),
        fileMatch: z.array(z.string().regex(/^[^/]/)).min(1),
        url: z.url({ protocol: /^https$/ }),
      }),
    )
    .length(1),
})

const committed = (name: string): unknown => JSON.parse(readFileSync(`docs/${name}`, 'utf8'))

let server: Server
let editor: LanguageServer
const requested: string[] = []
beforeAll(async () => {
  // Publishes both files as a team would, with its own address in place of ours.
  server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? ''
    requested.push(name)
    const text = readFileSync(`docs/${name}`, 'utf8')
    response.end(text.replaceAll('https://pharos.example.com/docs', addressOf(server)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  editor = await startLanguageServer({
    validate: true,
    schemaStore: { enable: true, url: `${addressOf(server)}/schema-catalogue.json` },
  })
})
afterAll(async () => {
  await editor.close()
  server.close()
})

function addressOf(listening: Server): string {
  // True because the server listens on TCP.
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
}

test('docs/schema-catalogue.json has one entry in the form of SchemaStore, which names the schema by its id', () => {
  // "npm run schema" writes it anew.
  expect(committed('schema-catalogue.json')).toEqual(schemaCatalogue())
  const { schemas } = catalogue.parse(schemaCatalogue())
  const { $id, title } = z.object({ $id: z.string(), title: z.string() }).parse(manifestJsonSchema())
  expect(schemas.map(({ name, url }) => [name, url])).toEqual([[title, $id]])
})

test('the entry matches manifests by name in any folder, and no file of another kind', () => {
  const { schemas } = catalogue.parse(schemaCatalogue())
  const matcher = ignore().add(schemas.flatMap(({ fileMatch }) => fileMatch))

  const matched = [
    ...['shop.pharos.yaml', 'monitoring/shop/shop.pharos.yml'],
    ...['pharos-controller.yaml', 'deploy/values.yaml', '.pharosignore', 'pharos.yaml'],
  ].filter((name) => matcher.ignores(name))

  expect(matched).toEqual(['shop.pharos.yaml', 'monitoring/shop/shop.pharos.yml'])
})

/** What the editor finds wrong with `text` as a file of this name. */
async function messagesOf(name: string, text: string): Promise<readonly string[]> {
  const found = await editor.open(`file:///repository/${name}`, text)
  return found.map(({ message }) => message)
}

test('an editor with the catalogue validates a manifest by its file name', async () => {
  const sound = manifestOf('shop')
  const broken = sound.replace('interval', 'intervall')

  // The editor fetches the catalogue after its start, and knows no schema before.
  let underlined: readonly string[] = []
  for (let tries = 0; underlined.length === 0; tries += 1) {
    underlined = await messagesOf(`broken-${tries}.pharos.yaml`, broken)
  }
  const others = [await messagesOf('shop.pharos.yaml', sound), await messagesOf('values.yaml', broken)]

  expect(underlined).toEqual(['Property intervall is not allowed.'])
  expect(others).toEqual([[], []])
  expect(requested).toContain('manifest.schema.json')
})
