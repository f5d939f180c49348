/** Versions of TLS under the names of blackbox_exporter; the place of each is stored and sent. */
const TLS_VERSIONS = ['TLS 1.0', 'TLS 1.1', 'TLS 1.2', 'TLS 1.3'] as const
const HTTP_VERSIONS = ['1.0', '1.1'] as const
const IP_VERSIONS = [4, 6] as const
const REDIRECTS_MAX = 31

/** Details of a check besides its outcome: of the last response, or of the last address without one. */
export interface ResponseFacts {
  /** Whether the body was longer than was read, because no assertion needs it. */
  readonly isBodyCut: boolean
  /** `null` without a response. */
  readonly httpVersion: (typeof HTTP_VERSIONS)[number] | null
  /** `null` before an address was dialled. */
  readonly ipVersion: (typeof IP_VERSIONS)[number] | null
  /** `null` without a response over TLS. */
  readonly tlsVersion: (typeof TLS_VERSIONS)[number] | null
  /** Redirects that were followed. */
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
 * The flags of a result. Bit 0: the body was cut; bits 1 and 2: version of HTTP; 3 and 4: of IP; 5 to 7: of TLS, each 0 for
 * `null`; 8 to 12: redirects. Pure.
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

/** The version of TLS that Node calls `protocol`, such as `TLSv1.3`; `null` for another one. Pure. */
export function tlsVersionOf(protocol: string | null): ResponseFacts['tlsVersion'] {
  return TLS_VERSIONS.find((version) => version.replace(' ', 'v') === protocol) ?? null
}

/** 0 for `null`, else the place in `list` from 1. */
function placeOf<Item>(list: readonly Item[], item: Item | null): number {
  return item === null ? 0 : list.indexOf(item) + 1
}
