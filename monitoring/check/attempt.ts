import { isIPv6, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { TunnelProxy } from '../../api/network/proxy.ts'
import type { AssertionNeeds } from '../assertions/compileAssertions.ts'
import type { Observation } from '../assertions/observation.ts'
import { NO_FACTS, type ResponseFacts, tlsVersionOf } from '../protocol/responseFacts.ts'
import type { CheckTools } from './checkTools.ts'
import { bodyText, bodyTooLarge, decodedBody } from './http/decodeBody.ts'
import { type BodyLimit, type Exchanged, exchange } from './http/exchange.ts'
import { isRedirect, redirectOf, shownUrl } from './http/redirect.ts'
import { portOf, type RequestHop, requestBytes, serverNameOf, shownServerNameOf } from './http/requestHop.ts'
import { literalAddress } from './network/addressRules.ts'
import type { SeenCertificate } from './network/certificate.ts'
import { chooseAddress, type DialRules, dial } from './network/dial.ts'
import { dialThroughProxy } from './network/dialThroughProxy.ts'
import { secure } from './network/secure.ts'
import { AttemptClock, type Phases } from './outcome/attemptClock.ts'
import { CheckFault } from './outcome/reason.ts'
import type { PreparedCheck } from './prepareCheck.ts'

/** Maximum size of a body after decoding and before (bytes). Encoding may make a body slightly longer. */
const BODY_BYTES_MAX = 1_048_576
const ENCODED_BYTES_MAX = BODY_BYTES_MAX + 65_536
/** Maximum size to read when no assertion needs the body (bytes). */
const UNNEEDED_BYTES_MAX = 65_536

/** The tools of an attempt: those of a check without the matcher. */
export type AttemptTools = Omit<CheckTools, 'matcher' | 'close'> & Pick<DialRules, 'connectMsMax'>

/** The request of a check, and the parts of the response that it needs. */
export type Attempted = Pick<
  PreparedCheck,
  'request' | 'timeoutMs' | 'redirectsMax' | 'isDnsFresh' | 'isDnsCounted'
> & { readonly needs: Pick<AssertionNeeds, 'wholeBody' | 'bodyText'> }

/** One attempt of a check, from name resolution to the last byte. */
export class Attempt {
  readonly #check: Attempted
  readonly #tools: AttemptTools
  readonly #attemptIndex: number
  readonly #clock: AttemptClock
  /** Certificates of all connections, including one refused because of its certificate. */
  readonly certificates: SeenCertificate[] = []
  /** Status of the last response; 0 before the first. */
  status = 0
  /** The first address that was dialled, or chosen for dialling. */
  address: string | undefined
  facts: ResponseFacts = NO_FACTS

  /** `attemptIndex` chooses among the addresses of a name. The time limit runs from now until `close`. */
  constructor(check: Attempted, tools: AttemptTools, attemptIndex: number, signal?: AbortSignal) {
    this.#check = check
    this.#tools = tools
    this.#attemptIndex = attemptIndex
    this.#clock = new AttemptClock(check.timeoutMs, tools.nowUs, signal)
  }

  get phases(): Phases {
    return this.#clock.phases()
  }

  /**
   * Sends the request of the check and follows redirects. Resolves with the observation of the final response. Rejects
   * with CheckFault.
   */
  async observe(): Promise<Observation> {
    const { request, redirectsMax } = this.#check
    const visited = new Set<string>()
    let hop = request
    for (let redirects = 0; ; redirects += 1) {
      visited.add(`${hop.method} ${hop.url.href}`)
      const response = await this.#exchange(hop)
      if (redirectsMax === 0 || !isRedirect(response.head)) return this.#observation(response)
      hop = redirectOf(hop, response.head)
      const isLoop = visited.has(`${hop.method} ${hop.url.href}`)
      if (isLoop) throw new CheckFault('too_many_redirects', `redirects lead back to ${shownUrl(hop.url)}`)
      if (redirects === redirectsMax)
        throw new CheckFault('too_many_redirects', `more than ${redirectsMax} redirects`)
      this.facts = { ...this.facts, redirects: redirects + 1 }
    }
  }

  /** Deadline for the work after the response (monotonic milliseconds). */
  get deadlineMs(): number {
    return (this.#tools.nowUs() - this.#clock.elapsedUs()) / 1_000 + this.#check.timeoutMs
  }

  /** Ends the attempt. */
  close(): void {
    this.#clock.close()
  }

  /** Sends one request over its own connection. */
  async #exchange(hop: RequestHop): Promise<Exchanged> {
    const socket = await this.#connect(hop)
    try {
      const bytes = requestBytes(hop, this.#tools.userAgent)
      return await exchange(
        socket,
        bytes,
        (head) => {
          this.status = head.status
          // The connection to a proxy may also be a TLSSocket.
          const isSecured = hop.url.protocol === 'https:' && socket instanceof TLSSocket
          const tlsVersion = isSecured ? tlsVersionOf(socket.getProtocol()) : null
          this.facts = { ...this.facts, httpVersion: head.version, tlsVersion }
          return this.#check.redirectsMax > 0 && isRedirect(head) ? undefined : this.#bodyLimit()
        },
        this.#clock,
      )
    } finally {
      socket.destroy()
    }
  }

  #bodyLimit(): BodyLimit {
    if (!this.#check.needs.wholeBody) return { bytesMax: UNNEEDED_BYTES_MAX, whenMore: 'cut' }
    return { bytesMax: ENCODED_BYTES_MAX, whenMore: () => bodyTooLarge(BODY_BYTES_MAX) }
  }

  async #connect(hop: RequestHop): Promise<Socket> {
    const { secureContext, certificates, proxy } = this.#tools
    const port = portOf(hop.url)
    const socket =
      proxy === undefined
        ? await this.#dial(hop.url.hostname, port)
        : await this.#dialThrough(proxy, hop.url.hostname, port)
    if (hop.url.protocol === 'http:') return socket
    const name = serverNameOf(hop)
    const secured = await secure(socket, name, secureContext, this.#clock)
    const { certificate, fault } = certificates.judge(
      secured,
      { name, shownName: shownServerNameOf(hop) },
      port,
    )
    if (certificate !== undefined) this.certificates.push(certificate)
    if (fault === undefined) return secured
    secured.destroy()
    throw fault
  }

  async #dial(hostname: string, port: number): Promise<Socket> {
    const address = chooseAddress(await this.#addresses(hostname), port, this.#attemptIndex, this.#tools)
    this.address ??= address
    this.facts = { ...this.facts, ipVersion: isIPv6(address) ? 6 : 4 }
    return dial(address, port, this.#clock, this.#tools)
  }

  async #dialThrough(proxy: TunnelProxy, hostname: string, port: number): Promise<Socket> {
    // The proxy resolves the name. It is resolved here only for an assertion on the resolution time.
    if (this.#check.isDnsFresh) await this.#addresses(hostname)
    return dialThroughProxy(proxy, hostname, port, this.#clock, this.#tools)
  }

  async #addresses(hostname: string): Promise<readonly string[]> {
    const literal = literalAddress(hostname)
    if (literal !== undefined) return [literal]
    const { resolver } = this.#tools
    const { isDnsFresh } = this.#check
    const known = isDnsFresh ? undefined : resolver.known(hostname)
    if (known !== undefined) return known
    return this.#clock.wait('dns', (resolve, reject) => {
      resolver.resolve(hostname, isDnsFresh).then(resolve, reject)
      return () => {}
    })
  }

  async #observation({ head, headAtUs, body, bodyAtUs }: Exchanged): Promise<Observation> {
    const { needs, isDnsCounted } = this.#check
    this.#clock.stopMeasuring()
    this.facts = { ...this.facts, isBodyCut: bodyAtUs === undefined }
    const dnsUs = this.phases.dns
    const uncountedUs = isDnsCounted ? 0 : dnsUs
    const latencyUs =
      bodyAtUs === undefined
        ? { HeadersLatency: headAtUs - uncountedUs }
        : {
            HeadersLatency: headAtUs - uncountedUs,
            BodyLatency: bodyAtUs - headAtUs,
            TotalLatency: bodyAtUs - uncountedUs,
          }
    const { status, headers } = head
    if (!needs.bodyText) return { status, headers, latencyUs, dnsUs }
    const decoded = await decodedBody(body, head, BODY_BYTES_MAX, this.#clock)
    if (decoded.length > BODY_BYTES_MAX) throw bodyTooLarge(BODY_BYTES_MAX)
    const { text, mediaType } = bodyText(decoded, head)
    return { status, headers, latencyUs, dnsUs, body: { text, mediaType, bytes: decoded.length } }
  }
}
