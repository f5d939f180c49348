import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { openValue } from '../../domain/seal.ts'
import { defaultKeyFile, readKeys } from '../../secrets/keyring.ts'
import { databaseFile } from '../../store/sqlite/files/openDatabase.ts'
import { apiClient } from '../apiClient.ts'
import { encodedForms } from '../encodedForms.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const SECRETS = 200
/** Secrets of one service: a body and nine headers. */
const PER_SERVICE = 10

const server = await startServer({ rateLimit: 'none', logLevel: 'trace' })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())

/** The prefix of every secret. Wherever a secret is found, in any form, the prefix is found in the same form. */
const CANARY = 'canary-of-a-secret-'
const secret = () => `${CANARY}${randomBytes(12).toString('hex')}`

function withSecrets(secrets: readonly string[]) {
  const [body = '', ...values] = secrets.map((value) => ({ value, sensitive: true }))
  const headers = Object.fromEntries(values.map((value, index) => [`X-Secret-${index}`, value]))
  const call = { Http: { method: 'POST' as const, timeout: null, body: body === '' ? null : body, headers } }
  return serviceBody({ endpoints: [endpointBody({ call })] })
}

test('C022 C082 C079 none of 200 secrets and keys is found in database, log, metrics or responses', async () => {
  const secrets: string[] = []
  const texts: string[] = []
  for (let made = 0; made < SECRETS / PER_SERVICE; made += 1) {
    const batch = Array.from({ length: PER_SERVICE }, secret)
    secrets.push(...batch)
    const created = await api.post('/v1/services', withSecrets(batch.slice(0, 5)), {
      headers: { 'idempotency-key': `key ${made}`.replace(' ', '-') },
    })
    const { id } = serviceResponseSchema.parse(created.json)
    const path = `/v1/services/${id}`
    const strict = { headers: { prefer: 'handling=strict' } }
    texts.push(
      created.text,
      (await api.patch(path, withSecrets(batch.slice(5)))).text,
      (await api.patch(path, { ...withSecrets(batch), interval_secs: 0 })).text,
      (await api.patch(path, { ...withSecrets(batch), extra: batch }, strict)).text,
      (await api.post('/v1/services', { ...withSecrets(batch), name: '' })).text,
      (await api.post(`${path}/pause`)).text,
      (await api.get(path)).text,
    )
  }
  texts.push((await api.get('/v1/services')).text, server.logged())
  texts.push(await (await fetch(`${server.adminUrl}/metrics`)).text())
  const files = await readdir(server.dataDir)
  const contents = await Promise.all(files.map((file) => readFile(join(server.dataDir, file))))
  const everything = Buffer.concat([...contents, ...texts.map((text) => Buffer.from(text))])

  const found = [CANARY, server.apiKey].filter((text) =>
    encodedForms(text).some((form) => everything.includes(form)),
  )

  expect(found).toEqual([])
  expect([secrets.length, files.some((file) => file.endsWith('-wal'))]).toEqual([SECRETS, true])
  expect(everything.includes('X-Secret-1')).toBe(true)
})

test('C022 the database has only the SHA-256 and the last four characters of a key', async () => {
  const database = new Sqlite(databaseFile(server.dataDir), { readonly: true })
  const rows = database.prepare('SELECT key_hash, last4 FROM api_keys').all()
  database.close()

  const key_hash = createHash('sha256').update(server.apiKey).digest()
  expect(rows).toContainEqual({ key_hash, last4: server.apiKey.slice(-4) })
})

test('C083 equal values, and one value written twice, have nothing in common when they are sealed', async () => {
  const value = secret()
  const { json } = await api.post('/v1/services', withSecrets([value, value]))
  const { id } = serviceResponseSchema.parse(json)
  const first = await server.store.sealedValues(id)
  await api.patch(`/v1/services/${id}`, withSecrets([value, value]))

  const sealed = [...first, ...(await server.store.sealedValues(id))]

  for (const part of ['keyId', 'nonce', 'ciphertext', 'wrapNonce', 'wrappedKey'] as const) {
    expect(new Set(sealed.map((each) => each[part].toString('hex'))).size).toBe(4)
  }
})

test('C083 C084 a sealed value can be opened with the master key only at its own place', async () => {
  const values = [secret(), secret()]
  const { json } = await api.post('/v1/services', withSecrets(values))
  const [masterKey] = readKeys({ kind: 'file', file: defaultKeyFile(server.dataDir) }, server.dataDir)

  const sealed = await server.store.sealedValues(serviceResponseSchema.parse(json).id)

  const open = sealed.map((each) => (masterKey === undefined ? '' : openValue(each, masterKey)))
  expect(open.toSorted()).toEqual(values.toSorted())
  for (const each of sealed) {
    for (const moved of [
      { orgId: 'other' },
      { serviceId: 'other' },
      { endpointId: 'other' },
      { slot: 'other' },
    ]) {
      expect(() => masterKey && openValue({ ...each, ...moved }, masterKey)).toThrow()
    }
    expect(() => openValue(each, { id: each.masterKeyId, bytes: randomBytes(32) })).toThrow()
  }
})
