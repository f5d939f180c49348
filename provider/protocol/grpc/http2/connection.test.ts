import { expect, onTestFinished, test, vi } from 'vitest'
import {
  callBlock,
  callFrame,
  literal,
  messageFrame,
  NO_SETTINGS,
  PREFACE,
  type RawClient,
  rawClient,
  resetFrame,
} from '../../testing/rawHttp2.ts'
import { createGrpcServer, type GrpcServer, type Method } from '../server.ts'
import { ERROR } from './errors.ts'
import { FLAG, frame, frameHeader, numbersFrame, TYPE } from './frames.ts'

const MIB = 1024 * 1024

const METHODS: { readonly [path: string]: Method['respond'] } = {
  '/Echo': async function* (request) {
    yield request
  },
  '/Wait': async function* (_, signal) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  },
  '/Long': async function* () {
    yield Buffer.alloc(MIB)
  },
}

interface Served extends RawClient {
  readonly server: GrpcServer
  /** The calls that began, and those whose signal aborted. */
  readonly calls: { begun: number; aborted: number }
}

/** A client that sent the preface and SETTINGS, and has read what the server sends first. */
async function connected(): Promise<Served> {
  const calls = { begun: 0, aborted: 0 }
  const server = createGrpcServer(async (path) => {
    const respond = METHODS[path]
    return respond === undefined
      ? undefined
      : {
          isRequestStream: path !== '/Echo',
          respond: (request, signal) => {
            calls.begun += 1
            signal.addEventListener('abort', () => {
              calls.aborted += 1
            })
            return respond(request, signal)
          },
        }
  })
  onTestFinished(() => server.close())
  const client = rawClient(server.serve)
  await client.send(PREFACE, NO_SETTINGS)
  expect(client.shortly()).toEqual(['settings 0', `windowUpdate 0 by ${MIB - 65_535}`, 'settings 0 ack'])
  return { ...client, server, calls }
}

const ECHOED = (streamId: number, bytes = 0): readonly string[] => [
  `headers ${streamId}`,
  `data ${streamId} of ${5 + bytes}`,
  `headers ${streamId} end`,
]

/** Expects that the connection works. */
async function expectEcho(client: RawClient, streamId: number): Promise<void> {
  await client.send(callFrame(streamId, '/Echo'), messageFrame(streamId))
  expect(client.shortly()).toEqual(ECHOED(streamId))
}

const ping = (flags = 0): Buffer => frame(TYPE.ping, flags, 0, Buffer.from('12345678'))
const settings = (...pairs: readonly (readonly [number, number])[]): Buffer => {
  const payload = Buffer.alloc(6 * pairs.length)
  for (const [index, [id, value]] of pairs.entries()) {
    payload.writeUInt16BE(id, 6 * index)
    payload.writeUInt32BE(value, 6 * index + 2)
  }
  return frame(TYPE.settings, 0, 0, payload)
}
const update = (streamId: number, bytes: number): Buffer => numbersFrame(TYPE.windowUpdate, streamId, bytes)
const data = (streamId: number, payload: Uint8Array, flags = 0): Buffer =>
  frame(TYPE.data, flags, streamId, payload)
const empty = (type: number, streamId: number, flags = 0): Buffer =>
  frame(type, flags, streamId, Buffer.alloc(0))

test('frames may come in pieces of one byte, and all together', async () => {
  const call = Buffer.concat([callFrame(1, '/Echo'), messageFrame(1, Buffer.from('hello'))])
  const client = await connected()

  await client.send(...Array.from(call, (byte) => Buffer.from([byte])))
  const inPieces = client.shortly()
  await client.send(
    Buffer.concat([callFrame(3, '/Echo'), messageFrame(3), callFrame(5, '/Echo'), messageFrame(5)]),
  )

  expect(inPieces).toEqual(ECHOED(1, 5))
  expect(client.shortly().toSorted()).toEqual([...ECHOED(3), ...ECHOED(5)].toSorted())
})

test('a caller that does not speak HTTP/2 gets the reason, and its connection is closed', async () => {
  const client = rawClient(createGrpcServer(async () => undefined).serve)

  await client.send(Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'))

  expect(client.shortly().at(-1)).toBe(`goAway 0 code ${ERROR.protocol}`)
  expect(client.isClosed()).toBe(true)
})

test('a ping gets a response with its payload; an acknowledgement gets none', async () => {
  const client = await connected()

  await client.send(ping(), ping(FLAG.ack))

  const [pong, ...others] = client.received()
  expect([pong?.type, pong?.flags, String(pong?.payload), others]).toEqual([
    TYPE.ping,
    FLAG.ack,
    '12345678',
    [],
  ])
})

test('padding, priorities and CONTINUATION make the same call', async () => {
  const client = await connected()
  const block = callBlock('/Echo')
  const padded = Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 255]), block.subarray(0, 10), Buffer.from('pad')])

  await client.send(
    frame(TYPE.headers, FLAG.padded | FLAG.priority, 1, padded),
    empty(TYPE.continuation, 1),
    frame(TYPE.continuation, FLAG.endHeaders, 1, block.subarray(10)),
    data(1, Buffer.from([2, 0, 0, 0, 0, 1, 120, 9, 9]), FLAG.padded | FLAG.endStream),
  )

  expect(client.shortly()).toEqual(ECHOED(1, 1))
})

test('a request may end with trailers, or with its headers', async () => {
  const client = await connected()
  const trailers = frame(TYPE.headers, FLAG.endHeaders | FLAG.endStream, 1, literal('x', 'y'))

  await client.send(callFrame(1, '/Echo'), data(1, Buffer.alloc(5)), trailers)
  const first = client.shortly()
  await client.send(callFrame(3, '/Echo', FLAG.endHeaders | FLAG.endStream))

  expect(first).toEqual(ECHOED(1))
  expect(client.shortly()).toEqual(['headers 3 end'])
})

test('frames without a meaning here are ignored', async () => {
  const client = await connected()

  await client.send(
    frame(0xbe, 0xff, 7, Buffer.from('unknown')),
    frame(TYPE.priority, 0, 9, Buffer.alloc(5)),
    frame(TYPE.goAway, 0, 0, Buffer.alloc(8)),
    settings([0x99, 1], [1, 0]),
  )

  expect(client.shortly()).toEqual(['settings 0 ack'])
  await expectEcho(client, 1)
})

test('frames of a stream that is closed are ignored, but for headers that others refer to', async () => {
  const client = await connected()
  await client.send(callFrame(1, '/Wait'), resetFrame(1))
  const added = Buffer.concat([Buffer.from([0x44, 5]), Buffer.from('/Echo')])
  const call = Buffer.concat([Buffer.from([0x83, 0x86, 0xbe]), literal('content-type', 'application/grpc')])

  await client.send(
    data(1, Buffer.alloc(10)),
    update(1, 10),
    resetFrame(1),
    frame(TYPE.headers, FLAG.endHeaders, 1, added),
    frame(TYPE.headers, FLAG.endHeaders, 3, call),
    messageFrame(3),
  )

  expect(client.shortly()).toEqual(ECHOED(3))
})

test('data of a closed stream is given back to the connection', async () => {
  const client = await connected()
  await client.send(callFrame(1, '/Wait'), resetFrame(1))

  await client.send(...Array.from({ length: 32 }, () => data(1, Buffer.alloc(16_384))))

  expect(client.shortly()).toEqual([`windowUpdate 0 by ${MIB / 2}`])
})

test('RST_STREAM stops a request that goes on after its response', async () => {
  const client = await connected()

  await client.send(callFrame(1, '/Missing'))

  expect(client.shortly()).toEqual(['headers 1 end', `rstStream 1 code ${ERROR.none}`])
})

const malformed = (block: readonly Buffer[]): Buffer =>
  frame(TYPE.headers, FLAG.endHeaders, 1, Buffer.concat([...block]))
const POST = Buffer.from([0x83, 0x86])
const PATH = literal(':path', '/Wait')

test.each<[string, number, readonly Buffer[]]>([
  ['headers without a path', ERROR.protocol, [malformed([POST])]],
  ['an empty path', ERROR.protocol, [malformed([POST, literal(':path', '')])]],
  ['no method', ERROR.protocol, [malformed([Buffer.from([0x86]), PATH])]],
  ['no scheme', ERROR.protocol, [malformed([Buffer.from([0x83]), PATH])]],
  ['two paths', ERROR.protocol, [malformed([POST, PATH, PATH])]],
  [
    'a pseudo-header that is none of a request',
    ERROR.protocol,
    [malformed([POST, PATH, literal(':status', '200')])],
  ],
  ['a pseudo-header after others', ERROR.protocol, [malformed([POST, literal('a', 'b'), PATH])]],
  ['a name with a capital letter', ERROR.protocol, [malformed([POST, PATH, literal('A', 'b')])]],
  ['a value with a line break', ERROR.protocol, [malformed([POST, PATH, literal('a', 'b\nc')])]],
  ['a header of connections', ERROR.protocol, [malformed([POST, PATH, literal('connection', 'close')])]],
  ['TE other than trailers', ERROR.protocol, [malformed([POST, PATH, literal('te', 'gzip')])]],
  ['trailers that do not end the request', ERROR.protocol, [callFrame(1, '/Wait'), callFrame(1, '/Wait')]],
  ['a window that grows by nothing', ERROR.protocol, [callFrame(1, '/Wait'), update(1, 0)]],
  ['a window that is too large', ERROR.flowControl, [callFrame(1, '/Wait'), update(1, 0x7fffffff)]],
  [
    'data after the end',
    ERROR.streamClosed,
    [callFrame(1, '/Wait', FLAG.endHeaders | FLAG.endStream), data(1, Buffer.alloc(1))],
  ],
  [
    'headers after the end',
    ERROR.streamClosed,
    [
      callFrame(1, '/Wait', FLAG.endHeaders | FLAG.endStream),
      callFrame(1, '/Wait', FLAG.endHeaders | FLAG.endStream),
    ],
  ],
])('%s ends the call and no other', async (_what, code, frames) => {
  const client = await connected()

  await client.send(...frames)

  expect(client.shortly()).toEqual([`rstStream 1 code ${code}`])
  expect(client.calls.aborted).toBe(client.calls.begun)
  await expectEcho(client, 3)
})

const open = callFrame(1, '/Wait', 0)

test.each<[string, number, readonly Buffer[]]>([
  ['a frame that is too long', ERROR.frameSize, [frameHeader(16_385, TYPE.data, 0, 1)]],
  ['data of no stream', ERROR.protocol, [data(0, Buffer.alloc(1))]],
  ['data of a stream that was not opened', ERROR.protocol, [data(1, Buffer.alloc(1))]],
  [
    'data of a stream that only servers open',
    ERROR.protocol,
    [callFrame(3, '/Wait'), data(2, Buffer.alloc(1))],
  ],
  ['headers of no stream', ERROR.protocol, [callFrame(0, '/Wait')]],
  ['headers of a stream that only servers open', ERROR.protocol, [callFrame(2, '/Wait')]],
  ['a reset of a stream that was not opened', ERROR.protocol, [resetFrame(1)]],
  ['a reset that is too short', ERROR.frameSize, [callFrame(1, '/Wait'), empty(TYPE.rstStream, 1)]],
  ['a priority of no stream', ERROR.protocol, [frame(TYPE.priority, 0, 0, Buffer.alloc(5))]],
  ['a priority that is too short', ERROR.frameSize, [frame(TYPE.priority, 0, 1, Buffer.alloc(4))]],
  ['headers whose priority is cut off', ERROR.frameSize, [empty(TYPE.headers, 1, FLAG.priority)]],
  ['padding of an empty frame', ERROR.frameSize, [callFrame(1, '/Wait'), empty(TYPE.data, 1, FLAG.padded)]],
  [
    'padding that is the whole frame',
    ERROR.protocol,
    [callFrame(1, '/Wait'), data(1, Buffer.from([1]), FLAG.padded)],
  ],
  ['SETTINGS of a stream', ERROR.protocol, [empty(TYPE.settings, 1)]],
  ['SETTINGS that are cut off', ERROR.frameSize, [frame(TYPE.settings, 0, 0, Buffer.alloc(5))]],
  [
    'acknowledged SETTINGS with contents',
    ERROR.frameSize,
    [frame(TYPE.settings, FLAG.ack, 0, Buffer.alloc(6))],
  ],
  ['ENABLE_PUSH that is neither', ERROR.protocol, [settings([2, 2])]],
  ['a window setting that is too large', ERROR.flowControl, [settings([4, 0x80000000])]],
  ['a frame size that is too small', ERROR.protocol, [settings([5, 16_383])]],
  ['a frame size that is too large', ERROR.protocol, [settings([5, 0x1000000])]],
  [
    'a setting that makes a window too large',
    ERROR.flowControl,
    [callFrame(1, '/Wait'), update(1, 0x7fffffff - 65_535), settings([4, 65_536])],
  ],
  ['a promise', ERROR.protocol, [frame(TYPE.pushPromise, FLAG.endHeaders, 1, Buffer.alloc(4))]],
  ['a ping of a stream', ERROR.protocol, [frame(TYPE.ping, 0, 1, Buffer.alloc(8))]],
  ['a ping that is too short', ERROR.frameSize, [frame(TYPE.ping, 0, 0, Buffer.alloc(7))]],
  ['a farewell of a stream', ERROR.protocol, [frame(TYPE.goAway, 0, 1, Buffer.alloc(8))]],
  ['a window of the connection that grows by nothing', ERROR.protocol, [update(0, 0)]],
  ['a window of the connection that is too large', ERROR.flowControl, [update(0, 0x7fffffff)]],
  ['a window of a stream that was not opened', ERROR.protocol, [update(1, 1)]],
  ['a window without its growth', ERROR.frameSize, [empty(TYPE.windowUpdate, 0)]],
  ['CONTINUATION of nothing', ERROR.protocol, [empty(TYPE.continuation, 1, FLAG.endHeaders)]],
  ['CONTINUATION of another stream', ERROR.protocol, [open, empty(TYPE.continuation, 3, FLAG.endHeaders)]],
  ['a block that another frame interrupts', ERROR.protocol, [open, ping()]],
  ['a block that is none', ERROR.compression, [frame(TYPE.headers, FLAG.endHeaders, 1, Buffer.from([0x80]))]],
])('%s ends the connection', async (_what, code, frames) => {
  const client = await connected()

  await client.send(...frames)

  expect(client.shortly().at(-1)).toMatch(new RegExp(`^goAway \\d code ${code}$`))
  expect(client.isClosed()).toBe(true)
  expect(client.calls.aborted).toBe(client.calls.begun)
})

test.each([
  ['a call', callFrame(1, '/Echo')],
  ['an acknowledgement', empty(TYPE.settings, 0, FLAG.ack)],
])('%s before SETTINGS ends the connection', async (_what, first) => {
  const client = rawClient(createGrpcServer(async () => undefined).serve)

  await client.send(PREFACE, first)

  expect(client.shortly().at(-1)).toBe(`goAway 0 code ${ERROR.protocol}`)
})

test('headers without end are refused, in long frames and in empty ones', async () => {
  const [long, short] = [await connected(), await connected()]
  const part = frame(TYPE.continuation, 0, 1, Buffer.alloc(16_384))

  await long.send(open, part, part, part, part)
  await short.send(open, ...Array.from({ length: 7_300 }, () => empty(TYPE.continuation, 1)))

  for (const client of [long, short]) {
    expect(client.shortly()).toEqual([`goAway 0 code ${ERROR.enhanceYourCalm}`])
  }
})

test('more calls than are permitted are refused, and may be made again', async () => {
  const client = await connected()
  const ids = Array.from({ length: 1_001 }, (_, index) => 2 * index + 1)

  await client.send(...ids.map((id) => callFrame(id, '/Wait')))
  const refused = client.shortly()
  await client.send(resetFrame(1))

  expect(refused).toEqual([`rstStream 2001 code ${ERROR.refusedStream}`])
  await expectEcho(client, 2_003)
})

test('a caller that gives calls up again and again is sent away', async () => {
  const client = await connected()

  for (let id = 1; id < 2_400 && !client.isClosed(); id += 2) {
    await client.send(callFrame(id, '/Wait'), resetFrame(id))
  }

  expect(client.shortly()).toEqual([`goAway 2001 code ${ERROR.enhanceYourCalm}`])
  expect(client.calls.aborted).toBe(1_001)
})

test('a caller that gives up every second call is served', async () => {
  const client = await connected()

  for (let id = 1; id < 3_000; id += 4) {
    await client.send(
      callFrame(id, '/Wait'),
      resetFrame(id),
      callFrame(id + 2, '/Echo'),
      messageFrame(id + 2),
    )
  }

  expect(client.isClosed()).toBe(false)
})

test('a caller that reads nothing cannot make the server keep responses without end', async () => {
  const client = await connected()
  client.stopReading()
  const pings = Buffer.concat(Array.from({ length: 3_000 }, () => ping()))

  for (let rounds = 0; rounds < 5 && !client.isClosed(); rounds += 1) await client.send(pings)

  expect(client.isClosed()).toBe(true)
})

test('a caller that reads may ask as often as it likes', async () => {
  const client = await connected()

  const pings = Buffer.concat(Array.from({ length: 5_000 }, () => ping()))

  await client.send(pings)
  await client.send(pings)
  await client.send(pings)

  expect(client.received().length).toBe(15_000)
})

test('data is taken as it comes, and both windows are given back when half of them is used', async () => {
  const client = await connected()
  const half = Array.from({ length: 32 }, () => data(1, Buffer.alloc(16_384)))

  await client.send(callFrame(1, '/Wait'), ...half.slice(1))
  const before = client.shortly()
  await client.send(...half.slice(0, 1))

  expect(before).toEqual([])
  expect(client.shortly()).toEqual([`windowUpdate 0 by ${MIB / 2}`, `windowUpdate 1 by ${MIB / 2}`])
})

test('data is sent as far as both windows permit, and goes on when they grow', async () => {
  const client = await connected()
  await client.send(settings([4, 10]), callFrame(1, '/Long', FLAG.endHeaders | FLAG.endStream))
  const first = client.shortly()
  await client.send(update(1, 7))
  const second = client.shortly()
  await client.send(settings([4, 30]))
  const third = client.shortly()
  await client.send(settings([4, 0]), update(1, 16), update(1, 15))
  const fourth = client.shortly()
  await client.send(update(1, MIB))
  const rest = client.received()
  const restBytes = rest.reduce((sum, { payload }) => sum + payload.length, 0)

  expect(first).toEqual(['settings 0 ack', 'headers 1', 'data 1 of 10'])
  expect(second).toEqual(['data 1 of 7'])
  expect(third).toEqual(['settings 0 ack', 'data 1 of 20'])
  // The window was -30 + 20 used bytes: it has to become positive first.
  expect(fourth).toEqual(['settings 0 ack', 'data 1 of 1'])
  expect(restBytes).toBe(65_535 - 10 - 7 - 20 - 1)
})

test('a response is sent whole when the windows permit it, in frames that every caller takes', async () => {
  const client = await connected()
  const calm = [settings([4, 2 * MIB]), update(0, 2 * MIB)]

  await client.send(...calm, callFrame(1, '/Long', FLAG.endHeaders | FLAG.endStream))

  const frames = client.received().filter(({ type }) => type === TYPE.data)
  expect(frames.reduce((sum, { payload }) => sum + payload.length, 0)).toBe(5 + MIB)
  expect(Math.max(...frames.map(({ payload }) => payload.length))).toBe(16_384)
})

test('responses take turns', async () => {
  const client = await connected()
  const ids = [1, 3, 5]
  const begin = ids.map((id) => callFrame(id, '/Long', FLAG.endHeaders | FLAG.endStream))

  await client.send(settings([4, 2 * MIB]), ...begin)

  const order = client.received().flatMap(({ type, streamId }) => (type === TYPE.data ? [streamId] : []))
  expect(order).toEqual([1, 3, 5, 1])
})

test('an end is announced with the last call, which gets its response before the connection closes', async () => {
  const client = await connected()
  await client.send(callFrame(1, '/Echo'))

  client.server.end()
  await client.send(callFrame(3, '/Echo'), messageFrame(3), ping(), messageFrame(1))

  expect(client.shortly()).toEqual([`goAway 1 code ${ERROR.none}`, 'ping 0 ack', ...ECHOED(1)])
  expect(client.isClosed()).toBe(true)
})

test('an end without calls closes the connection at once', async () => {
  const client = await connected()

  client.server.end()
  await client.send()

  expect(client.shortly()).toEqual([`goAway 0 code ${ERROR.none}`])
  expect(client.isClosed()).toBe(true)
})

test('calls are aborted when the connection is lost', async () => {
  const client = await connected()
  await client.send(callFrame(1, '/Wait'), callFrame(3, '/Wait'))

  client.drop()

  await vi.waitFor(() => expect(client.calls).toEqual({ begun: 2, aborted: 2 }), 30_000)
})
