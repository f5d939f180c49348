/** TLS versions by the names of blackbox_exporter. Their positions in the list are stored and sent. */
const TLS_VERSIONS = ['TLS 1.0', 'TLS 1.1', 'TLS 1.2', 'TLS 1.3'] as const
const HTTP_VERSIONS = ['1.0', '1.1'] as const
const IP_VERSIONS = [4, 6] as const
const REDIRECTS_MAX = 31

/** Details of a check other than its outcome: of the last response or, without one, of the last address. */
export interface ResponseFacts {
  /** Whether the body was longer than the part that was read, because no assertion needs it. */
  readonly isBodyCut: boolean
  /** `null` without a response. */
  readonly httpVersion: (typeof HTTP_VERSIONS)[number] | null
  /** `null` before an address was dialled. */
  readonly ipVersion: (typeof IP_VERSIONS)[number] | null
  /** `null` when there was no response over TLS. */
  readonly tlsVersion: (typeof TLS_VERSIONS)[number] | null
  /** Number of followed redirects. */
  readonly redirects: number
}

export const NO_FACTS: ResponseFacts = {
  isBodyCut: false,
  httpVersion: null,
  ipVersion: null,
  tlsVersion: null,
  redirects: 0,
}

/**
 * The flags of a result. Bit 0: the body was cut. Bits 1 and 2: HTTP version; 3 and 4: IP version; 5 to 7: TLS version,
 * each 0 for `null`. Bits 8 to 12: redirects. Pure.
 */
export function flagsOf(facts: ResponseFacts): number {
  const { isBodyCut, httpVersion, ipVersion, tlsVersion, redirects } = facts
  return (
    Number(isBodyCut) |
    (placeOf(HTTP_VERSIONS, httpVersion) << 1) |
    (placeOf(IP_VERSIONS, ipVersion) << 3) |
    (placeOf(TLS_VERSIONS, tlsVersion) << 5) |
    (Math.min(redirects, REDIRECTS_MAX) << 8)
  )
}

/** The facts of `flags`; `null` for versions that a newer release added. Pure. */
export function factsOf(flags: number): ResponseFacts {
  return {
    isBodyCut: (flags & 1) === 1,
    httpVersion: HTTP_VERSIONS[((flags >> 1) & 3) - 1] ?? null,
    ipVersion: IP_VERSIONS[((flags >> 3) & 3) - 1] ?? null,
    tlsVersion: TLS_VERSIONS[((flags >> 5) & 7) - 1] ?? null,
    redirects: (flags >> 8) & REDIRECTS_MAX,
  }
}

/** The TLS version for Node's name `protocol`, such as `TLSv1.3`; `null` for another one. Pure. */
export function tlsVersionOf(protocol: string | null): ResponseFacts['tlsVersion'] {
  return TLS_VERSIONS.find((version) => version.replace(' ', 'v') === protocol) ?? null
}

/** The position in `list`, from 1; 0 for `null`. */
function placeOf<Item>(list: readonly Item[], item: Item | null): number {
  return item === null ? 0 : list.indexOf(item) + 1
}
