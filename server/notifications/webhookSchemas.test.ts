import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { webhookSchemas } from './webhookSchemas.ts'

const FOLDER = new URL('../../docs/webhooks/', import.meta.url)

test('docs/webhooks has the schema of every payload: npm run webhooks', () => {
  const stored = new Map(
    readdirSync(FOLDER).map((file) => [file, JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))]),
  )

  expect(Object.fromEntries(stored)).toEqual(Object.fromEntries(webhookSchemas()))
})
