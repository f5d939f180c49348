import { connect } from 'node:net'
import { type ApiResponse, assertResponse } from './apiClient.ts'

/**
 * Writes `parts` to a new connection in order, and reads until the server closes it. For requests that no client
 * library would send. Those that would leave the connection open need `Connection: close`.
 */
export async function rawExchange(
  url: string,
  ...parts: readonly (string | Uint8Array)[]
): Promise<ApiResponse> {
  const { hostname, port } = new URL(url)
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      for (const part of parts) socket.write(part)
    })
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(chunks)))
  })
  const response = readResponse(bytes.toString())
  assertResponse(response)
  return response
}

/** The last response in `text`, which a 100 may precede. */
function readResponse(text: string): ApiResponse {
  const start = text.lastIndexOf('HTTP/1.1 ')
  const [head = '', ...rest] = text.slice(start).split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const body = rest.join('\r\n\r\n')
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text: body,
    json: body === '' ? undefined : JSON.parse(body),
  }
}
