import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { TLSSocket } from 'node:tls'
import axios from 'axios'

const TIMEOUT_MS = 10_000
const REDIRECTS_MAX = 10

/**
 * One check in the way of Uptime Kuma: a request of axios over separate agents without cached sessions, parsing of the
 * whole certificate chain, and a keyword search in the body. Returns whether the target is up.
 */
export async function axiosCheck(url: string, authorities: string | undefined): Promise<boolean> {
  const agentOptions = { maxCachedSessions: 0, autoSelectFamily: true }
  const httpsAgent = new HttpsAgent({
    ...agentOptions,
    rejectUnauthorized: true,
    ...(authorities === undefined ? {} : { ca: authorities }),
  })
  let hasCertificate = !url.startsWith('https:')
  httpsAgent.once('keylog', (_line: Buffer, socket: TLSSocket) => {
    socket.once('secureConnect', () => {
      hasCertificate = chainEnds(socket).length > 0
    })
  })
  const { status, data } = await axios.request({
    url,
    method: 'get',
    timeout: TIMEOUT_MS,
    maxRedirects: REDIRECTS_MAX,
    validateStatus: (code) => code >= 200 && code < 300,
    signal: AbortSignal.timeout(2 * TIMEOUT_MS),
    headers: { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8' },
    httpAgent: new HttpAgent(agentOptions),
    httpsAgent,
  })
  return status === 200 && String(data).includes('ready') && hasCertificate
}

/** Expiry of each certificate in the chain. */
function chainEnds(socket: TLSSocket): readonly number[] {
  const ends: number[] = []
  const seen = new Set<string>()
  let certificate = socket.getPeerCertificate(true)
  while (certificate?.valid_to !== undefined && !seen.has(certificate.fingerprint)) {
    seen.add(certificate.fingerprint)
    ends.push(Date.parse(certificate.valid_to))
    certificate = certificate.issuerCertificate
  }
  return ends
}
