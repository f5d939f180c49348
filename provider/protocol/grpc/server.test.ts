import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  type Settings,
} from 'node:http2'
import { connect as connectTo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createGrpcServer, type GrpcServer, type Method } from './server.ts'
import { GrpcError, STATUS } from './status.ts'

const MIB = 1024 * 1024
const asIs = (bytes: Buffer): Buffer => bytes

interface Running {
  readonly server: GrpcServer
  /** An independent implementation of a caller. */
  readonly client: Client
  /** Resolves with the response of a unary call; rejects with grpc-js' error. */
  call(path: string, request?: Buffer): Promise<Buffer>
  /** Resolves with the messages of a response. */
  collect(path: string): Promise<readonly Buffer[]>
  /** A session of HTTP/2 without gRPC on top, by Node's implementation. */
  raw(settings?: Settings): ClientHttp2Session
}

/** Serves `methods` on a socket of its own. */
async function running(
  methods: { readonly [path: string]: Method['respond'] | Method },
  messageBytesMax?: number,
): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'grpc-'))
  const server = createGrpcServer(async (path) => {
    const method = methods[path]
    return typeof method === 'function' ? { respond: method } : method
  }, messageBytesMax)
  const listener = createServer((connection) => server.serve(connection))
  const address = join(folder, 's')
  listener.listen(address)
  await once(listener, 'listening')
  const client = new Client(`unix:${address}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': 256 * MIB,
    'grpc.use_local_subchannel_pool': 1,
  })
  onTestFinished(() => {
    client.close()
    server.close()
    listener.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    server,
    client,
    call: (path, request = Buffer.alloc(0)) =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest(path, asIs, asIs, request, (error: ServiceError | null, response?: Buffer) =>
          error === null ? resolve(response ?? Buffer.alloc(0)) : reject(error),
        )
      }),
    collect: (path) =>
      new Promise((resolve, reject) => {
        const messages: Buffer[] = []
        client
          .makeServerStreamRequest(path, asIs, asIs, Buffer.alloc(0))
          .on('data', (message: Buffer) => void messages.push(message))
          .on('error', reject)
          .on('end', () => resolve(messages))
      }),
    raw: (settings = {}) => {
      const session = connectHttp2('http://localhost', {
        createConnection: () => connectTo(address),
        settings,
      })
      session.on('error', () => undefined)
      onTestFinished(() => session.destroy())
      return session
    },
  }
}

const echo: Method['respond'] = async function* (request) {
  yield request
}

test('a response has one message, several or none', async () => {
  const { call, collect } = await running({
    '/a/Echo': echo,
    '/a/Three': async function* () {
      for (const text of ['one', '', 'three']) yield Buffer.from(text)
    },
    '/a/None': async function* () {},
  })

  expect((await call('/a/Echo', Buffer.from('hello'))).toString()).toBe('hello')
  expect((await call('/a/Echo')).length).toBe(0)
  expect((await collect('/a/Three')).map(String)).toEqual(['one', '', 'three'])
  expect(await collect('/a/None')).toEqual([])
})

test('a method that is not served is UNIMPLEMENTED', async () => {
  const { call } = await running({})

  await expect(call('/a/Missing')).rejects.toMatchObject({
    code: status.UNIMPLEMENTED,
    details: 'there is no method /a/Missing',
  })
})

test('an error is its status, and its message arrives as it was whatever it is made of', async () => {
  const message = '100 % of „Überwachung“\nand an emoji 🚨'
  const { call, collect } = await running({
    '/a/Own': () => {
      throw new GrpcError(STATUS.unimplemented, message)
    },
    '/a/Other': () => {
      throw new Error('half a pair: \ud83d')
    },
    '/a/Late': async function* () {
      yield Buffer.from('one')
      throw new GrpcError(STATUS.internal, message)
    },
    '/a/Long': () => {
      throw new Error('€'.repeat(100_000))
    },
  })

  await expect(call('/a/Own')).rejects.toMatchObject({ code: status.UNIMPLEMENTED, details: message })
  await expect(call('/a/Other')).rejects.toMatchObject({
    code: status.INTERNAL,
    details: 'half a pair: \ufffd',
  })
  await expect(collect('/a/Late')).rejects.toMatchObject({ code: status.INTERNAL, details: message })
  await expect(call('/a/Long')).rejects.toMatchObject({
    code: status.INTERNAL,
    details: '€'.repeat(4_096),
  })
})

test('messages of 64 MiB go both ways, beside other calls', async () => {
  const { call } = await running({ '/a/Echo': echo })
  const [largest, large] = [Buffer.alloc(64 * MIB, 'x'), Buffer.alloc(8 * MIB, 'y')]

  const [first, second, ...others] = await Promise.all([
    call('/a/Echo', largest),
    call('/a/Echo', large),
    ...Array.from({ length: 20 }, (_, index) => call('/a/Echo', Buffer.from(String(index)))),
  ])

  expect([first?.equals(largest), second?.equals(large)]).toEqual([true, true])
  expect(others.map(String)).toEqual(Array.from({ length: 20 }, (_, index) => String(index)))
})

test('a message that is too long is refused, and the connection lives on', async () => {
  const { call } = await running({ '/a/Echo': echo }, MIB)

  expect((await call('/a/Echo', Buffer.alloc(MIB))).length).toBe(MIB)
  await expect(call('/a/Echo', Buffer.alloc(8 * MIB))).rejects.toMatchObject({
    code: status.RESOURCE_EXHAUSTED,
    details: 'the message has more than 1048576 bytes',
  })
  expect((await call('/a/Echo', Buffer.from('again'))).toString()).toBe('again')
})

test('a call that its caller gives up aborts, and no other', async () => {
  const signals: AbortSignal[] = []
  const { client, call } = await running({
    '/a/Wait': async function* (_, signal) {
      signals.push(signal)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
    '/a/Echo': echo,
  })
  const waiting = ['one', 'two'].map(() =>
    client.makeUnaryRequest('/a/Wait', asIs, asIs, Buffer.alloc(0), () => undefined),
  )
  await vi.waitFor(() => expect(signals.length).toBe(2), 30_000)
  waiting[0]?.cancel()
  await vi.waitFor(() => expect(signals.some(({ aborted }) => aborted)).toBe(true), 30_000)

  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  expect((await call('/a/Echo', Buffer.from('x'))).toString()).toBe('x')
})

test('a stream of the caller gets its response while it is open', async () => {
  let isDone = false
  const { client } = await running({
    '/a/Open': {
      isRequestStream: true,
      respond: async function* (_, signal) {
        yield Buffer.from('here')
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        isDone = true
      },
    },
  })
  const stream = client.makeBidiStreamRequest('/a/Open', asIs, asIs)
  stream.on('error', () => undefined)
  const [first] = await once(stream, 'data')
  stream.write(Buffer.alloc(4 * MIB))
  stream.cancel()

  expect(String(first)).toBe('here')
  await vi.waitFor(() => expect(isDone).toBe(true), 30_000)
})

const POST = { ':method': 'POST', ':path': '/a/Echo', 'content-type': 'application/grpc' }

/** Sends `body` with `headers`; resolves with the HTTP status and that of gRPC. */
async function exchange(
  session: ClientHttp2Session,
  headers: { readonly [name: string]: string },
  body: readonly number[] = [],
): Promise<readonly unknown[]> {
  const stream = session.request({ ...headers })
  stream.end(Buffer.from(body))
  const [response] = await once(stream, 'response')
  let trailers = response
  stream.on('trailers', (given) => {
    trailers = given
  })
  stream.resume()
  await once(stream, 'close')
  return [response[':status'], trailers['grpc-status']]
}

test('what is not a call of gRPC is refused', async () => {
  const session = (await running({ '/a/Echo': echo })).raw()
  const internal = [200, String(status.INTERNAL)]

  expect(await exchange(session, { ...POST, ':method': 'PUT' })).toEqual([415, undefined])
  expect(await exchange(session, { ...POST, 'content-type': 'application/json' })).toEqual([415, undefined])
  expect(await exchange(session, POST)).toEqual(internal)
  expect(await exchange(session, POST, [0, 0, 0])).toEqual(internal)
  expect(await exchange(session, POST, [0, 0, 0, 0, 9, 1])).toEqual(internal)
  expect(await exchange(session, POST, [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1])).toEqual(internal)
  expect(await exchange(session, POST, [1, 0, 0, 0, 1, 1])).toEqual([200, String(status.UNIMPLEMENTED)])
  expect(await exchange(session, POST, [0, 0, 0, 0, 1, 1])).toEqual([200, '0'])
})

test('a thousand calls at a time get their responses', async () => {
  const { call } = await running({ '/a/Echo': echo })
  const texts = Array.from({ length: 1_000 }, (_, index) => String(index))

  const responses = await Promise.all(texts.map((text) => call('/a/Echo', Buffer.from(text))))

  expect(responses.map(String)).toEqual(texts)
})

test('a response that is not read holds no other back', async () => {
  const { raw } = await running({
    '/a/Large': async function* () {
      yield Buffer.alloc(8 * MIB)
    },
    '/a/Echo': echo,
  })
  const session = raw()
  const slow = session.request({ ...POST, ':path': '/a/Large' })
  slow.end(Buffer.from([0, 0, 0, 0, 0]))
  await once(slow, 'response')

  expect(await exchange(session, POST, [0, 0, 0, 0, 1, 1])).toEqual([200, '0'])
  let bytes = 0
  slow.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  await once(slow, 'end')
  expect(bytes).toBe(5 + 8 * MIB)
})

test('a response of many messages is made as its caller takes it', async () => {
  const parts = 20
  let made = 0
  const { raw } = await running({
    '/a/Long': async function* () {
      for (; made < parts; made += 1) yield Buffer.alloc(MIB)
    },
  })
  const session = raw()
  const slow = session.request({ ...POST, ':path': '/a/Long' })
  slow.end(Buffer.alloc(5))
  await once(slow, 'response')
  // This response comes after everything that the server could do before.
  for (let pings = 0; pings < 10; pings += 1) {
    await new Promise((resolve) => void session.ping(resolve))
  }
  const madeUnread = made
  let bytes = 0
  slow.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  await once(slow, 'end')

  expect(madeUnread).toBeLessThan(5)
  expect([made, bytes]).toEqual([parts, parts * (MIB + 5)])
})

test('a response ends when its caller is gone, though nothing of it was taken', async () => {
  let isOver = false
  const { raw } = await running({
    '/a/Long': async function* (_, signal) {
      try {
        while (!signal.aborted) yield Buffer.alloc(MIB)
      } finally {
        isOver = true
      }
    },
  })
  const slow = raw().request({ ...POST, ':path': '/a/Long' })
  slow.on('error', () => undefined)
  slow.end(Buffer.alloc(5))
  await once(slow, 'response')

  slow.close()

  await vi.waitFor(() => expect(isOver).toBe(true), 30_000)
})

test('at the end the calls under way get their responses, and no more are taken', async () => {
  let respond: (() => void) | undefined
  const { server, call } = await running({
    '/a/Wait': async function* () {
      await new Promise<void>((resolve) => {
        respond = resolve
      })
      yield Buffer.from('late')
    },
  })
  const waiting = call('/a/Wait')
  await vi.waitFor(() => expect(respond).toBeDefined(), 30_000)
  server.end()
  respond?.()

  expect((await waiting).toString()).toBe('late')
})

/** All of a response. */
async function bodyOf(stream: ClientHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
  await once(stream, 'end')
  return Buffer.concat(chunks)
}

/** A call whose request is `text`. */
function calling(session: ClientHttp2Session, text: string): ClientHttp2Stream {
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, text.length]), Buffer.from(text)])
  return session.request(POST).end(message)
}

test('a caller with windows of a few bytes gets long responses, beside one another', async () => {
  const session = (
    await running({
      '/a/Echo': async function* (request) {
        for (let part = 0; part < 20; part += 1) yield Buffer.from(String(request).repeat(100 + part))
      },
    })
  ).raw({ initialWindowSize: 7 })

  const bodies = await Promise.all(['a', 'b', 'c'].map((text) => bodyOf(calling(session, text))))

  const expected = (text: string): string =>
    Array.from(
      { length: 20 },
      (_, part) => `\0\0\0\0${String.fromCharCode(100 + part)}${text.repeat(100 + part)}`,
    ).join('')
  expect(bodies.map(String)).toEqual(['a', 'b', 'c'].map(expected))
})

test('a caller may close its window in the middle of a response, and open it again', async () => {
  const session = (
    await running({
      '/a/Echo': async function* () {
        yield Buffer.alloc(MIB)
      },
    })
  ).raw()
  const stream = calling(session, 'x')
  await once(stream, 'response')
  const set = (initialWindowSize: number): Promise<void> =>
    new Promise((resolve) => void session.settings({ initialWindowSize }, () => resolve()))

  await set(0)
  await set(1_000_000)

  expect((await bodyOf(stream)).length).toBe(5 + MIB)
})

test('a caller without a table of headers understands the responses', async () => {
  const session = (await running({ '/a/Echo': echo })).raw({ headerTableSize: 0 })

  for (const text of ['one', 'two']) {
    expect(String(await bodyOf(calling(session, text)))).toContain(text)
  }
})

test('every byte of a path arrives, in its Huffman code too', async () => {
  const asked: string[] = []
  const path = (code: number): string =>
    `/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa${String.fromCharCode(code)}a`
  const codes = Array.from({ length: 256 }, (_, code) => code).filter((code) => code >= 32 && code !== 127)
  const { raw } = await running(
    Object.fromEntries(
      codes.map((code) => [
        path(code),
        async function* () {
          asked.push(path(code))
          yield Buffer.alloc(0)
        },
      ]),
    ),
  )
  const session = raw()

  for (const code of codes)
    expect(await exchange(session, { ...POST, ':path': path(code) }, [0, 0, 0, 0, 0])).toEqual([200, '0'])

  expect(asked).toEqual(codes.map(path))
})

test('a call is aborted when its caller closes the connection', async () => {
  const signals: AbortSignal[] = []
  const { raw } = await running({
    '/a/Wait': async function* (_, signal) {
      signals.push(signal)
      yield Buffer.from('here')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  const session = raw()
  const stream = session.request({ ...POST, ':path': '/a/Wait' }).end(Buffer.alloc(5))
  stream.on('error', () => undefined)
  await once(stream, 'response')

  session.destroy()

  await vi.waitFor(() => expect(signals.map(({ aborted }) => aborted)).toEqual([true]), 30_000)
})
