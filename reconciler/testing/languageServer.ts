import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const SERVER = require.resolve('yaml-language-server/bin/yaml-language-server')

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** A problem as an editor underlines it; lines and columns count from 0. */
export interface Diagnostic {
  readonly message: string
  readonly range: { readonly start: { readonly line: number; readonly character: number } }
}

/** A real YAML language server, spoken to as an editor does. */
export interface LanguageServer {
  readonly request: (method: string, params: object) => Promise<unknown>
  /** Opens `text` as the document `uri`; resolves with what is wrong with it. */
  readonly open: (uri: string, text: string) => Promise<readonly Diagnostic[]>
  readonly close: () => Promise<void>
}

/** Starts the server with `settings` under `yaml`, over its standard streams. */
export async function startLanguageServer(settings: object): Promise<LanguageServer> {
  const child = spawn(process.execPath, [SERVER, '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  const waiting = new Map<number | string, (message: Message) => void>()
  const diagnosed = new Map<string, (found: readonly Diagnostic[]) => void>()
  const send = (message: object): void => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  const receive = (message: Message): void => {
    const { id, method } = message
    if (method === undefined) {
      if (id !== undefined) waiting.get(id)?.(message)
    } else if (id !== undefined) {
      send({
        id,
        result: method === 'workspace/configuration' ? configuration(message.params, settings) : null,
      })
    } else if (method === 'textDocument/publishDiagnostics') {
      // True because the protocol says so.
      const { uri, diagnostics } = message.params as { uri: string; diagnostics: readonly Diagnostic[] }
      diagnosed.get(uri)?.(diagnostics)
    }
  }
  readMessages(child.stdout, receive)
  let requests = 0
  const request: LanguageServer['request'] = (method, params) =>
    new Promise((resolve, reject) => {
      requests += 1
      const id = requests
      waiting.set(id, ({ error, result }) => {
        if (error === undefined) resolve(result)
        else reject(new Error(`${method}: ${JSON.stringify(error)}`))
      })
      send({ id, method, params })
    })
  await request('initialize', {
    processId: process.pid,
    rootUri: null,
    capabilities: {
      workspace: { configuration: true },
      textDocument: { completion: { completionItem: { documentationFormat: ['markdown'] } } },
    },
  })
  send({ method: 'initialized', params: {} })
  send({ method: 'workspace/didChangeConfiguration', params: { settings: { yaml: settings } } })
  return {
    request,
    open: (uri, text) =>
      new Promise((resolve) => {
        diagnosed.set(uri, resolve)
        send({
          method: 'textDocument/didOpen',
          params: { textDocument: { uri, languageId: 'yaml', version: 1, text } },
        })
      }),
    close: async () => {
      await request('shutdown', {})
      send({ method: 'exit' })
      await ended
    },
  }
}

function configuration(params: unknown, settings: object): readonly unknown[] {
  // True because the protocol says so.
  const { items } = params as { items: readonly { section?: string }[] }
  return items.map(({ section }) => (section === 'yaml' ? settings : {}))
}

/** Calls `receive` with every message that comes over `stream`: a length, an empty line, and that many bytes. */
function readMessages(stream: NodeJS.ReadableStream, receive: (message: Message) => void): void {
  let received = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    for (;;) {
      const head = received.indexOf('\r\n\r\n')
      const length = Number(
        /Content-Length: (\d+)/i.exec(received.subarray(0, Math.max(head, 0)).toString())?.[1],
      )
      if (head < 0 || received.length < head + 4 + length) return
      const body = received.subarray(head + 4, head + 4 + length).toString()
      received = received.subarray(head + 4 + length)
      receive(JSON.parse(body))
    }
  })
}
