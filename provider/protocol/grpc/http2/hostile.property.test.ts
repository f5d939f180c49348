import fc from 'fast-check'
import { expect, test } from 'vitest'
import { callFrame, messageFrame, NO_SETTINGS, PREFACE, rawClient } from '../../testing/rawHttp2.ts'
import { createGrpcServer } from '../server.ts'
import { ERROR } from './errors.ts'
import { FLAG, frame, TYPE } from './frames.ts'

const streamId = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 9 }) },
  fc.integer({ min: 0, max: 0x7fffffff }),
)
const payload = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(0, 1, 4, 5, 6, 8).map((length) => new Uint8Array(length)),
)
const anyFrame = fc
  .tuple(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 255 }), streamId, payload)
  .map(([type, flags, id, bytes]) => frame(type, flags, id, bytes))
const usualFrame = streamId.chain((id) =>
  fc.constantFrom(
    callFrame(id, '/Echo'),
    callFrame(id, '/Wait', FLAG.endHeaders | FLAG.endStream),
    messageFrame(id, Buffer.from('hello')),
    NO_SETTINGS,
    frame(TYPE.ping, 0, 0, Buffer.alloc(8)),
  ),
)
/** What a client may send, with some bytes changed. */
const sent = fc
  .record({
    frames: fc.array(fc.oneof(usualFrame, anyFrame), { maxLength: 12 }),
    changes: fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 0, max: 255 })), { maxLength: 3 }),
    cut: fc.nat(400),
  })
  .map(({ frames, changes, cut }) => {
    const bytes = Buffer.concat([PREFACE, NO_SETTINGS, ...frames])
    for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte
    return [bytes.subarray(0, cut), bytes.subarray(cut)]
  })

test('whatever a caller sends, nothing is thrown, and no call is left when it is gone', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(sent, async (chunks) => {
      let [begun, aborted] = [0, 0]
      const server = createGrpcServer(async (path) => ({
        isRequestStream: path === '/Wait',
        respond: async function* (request, signal) {
          begun += 1
          signal.addEventListener('abort', () => {
            aborted += 1
          })
          if (path === '/Echo') yield request
          else await new Promise((resolve) => signal.addEventListener('abort', resolve))
        },
      }))
      const client = rawClient(server.serve)

      await client.send(...chunks)
      const codes = client
        .received()
        .flatMap(({ type, payload: said }) => (type === TYPE.goAway ? [said.readUInt32BE(4)] : []))
      client.drop()
      await client.send()

      expect(codes).not.toContain(ERROR.internal)
      expect(aborted).toBe(begun)
    }),
    { numRuns: 1_000 },
  )
})
