import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makeKeys, makeOrg } from '../seedFolder.ts'
import { startProcess } from '../serverProcess.ts'

/** Number of concurrent bodies of each organisation. All of them would take a quarter of a gigabyte. */
const BODIES = 4
const HEAP_MIB = 144
/** A body of maximum length, with the values that take the most memory for their length. */
const COSTLY = `{"name":[${Array(8_600)
  .fill('['.repeat(60) + ']'.repeat(60))
  .join()}]}`

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/**
 * Sends a create without its last byte. Resolves with a function that sends that byte and resolves with the status and
 * body of the response.
 */
async function beginCreate(port: number, key: string): Promise<() => Promise<string>> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  undo.push(() => socket.destroy())
  const head = ['POST /v1/services HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, 'Connection: close']
  socket.write(`${head.join('\r\n')}\r\nContent-Length: ${COSTLY.length}\r\n\r\n`)
  await new Promise((resolve) => socket.write(COSTLY.slice(0, -1), resolve))
  return async () => {
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    const ended = once(socket, 'close')
    socket.write(COSTLY.slice(-1))
    await ended
    const [, status = '', body = ''] = /^HTTP\/1\.1 (\d+) [\s\S]*?\r\n\r\n([\s\S]*)$/.exec(text) ?? []
    return `${status} ${body}`
  }
}

test('eight long bodies of nested arrays at once do not crash a server with a small heap', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-bodies-'))
  undo.push(() => rm(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const keys = [
    ...(await makeKeys(dataDir, await makeOrg(dataDir), 1)),
    ...(await makeKeys(dataDir, await makeOrg(dataDir), 1)),
  ]
  const environment = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` }
  const server = await startProcess(dataDir, [], { environment })
  undo.push(server.kill)
  const port = Number(new URL(server.url).port)
  const begun = await Promise.all(
    keys.flatMap((key) => Array.from({ length: BODIES }, () => beginCreate(port, key))),
  )

  const responses = await Promise.all(begun.map((finish) => finish()))

  // A body waits 30 seconds for memory at most (Gap G40), and so does its response (Gap G39): on a busy machine some
  // are refused.
  const refusals = ['too many long bodies are being read', 'too many long responses are under way']
  const read = responses.filter(
    (response) => !refusals.some((error) => response === `429 {"error":"${error}"}`),
  )
  expect(read.length).toBeGreaterThan(0)
  expect(new Set(read.map((response) => response.slice(0, 3)))).toEqual(new Set(['400']))
  expect(server.child.exitCode ?? server.child.signalCode).toBeNull()
}, 120_000)
