import { createSecureContext, type SecureContext } from 'node:tls'
import { proxyAt, type TunnelProxy } from '../../api/network/proxy.ts'
import { MatcherThread } from '../assertions/matcherThread.ts'
import { RegexBudget } from '../assertions/regexBudget.ts'
import { addressRules, type IsForbidden } from './network/addressRules.ts'
import { CertificateJudge } from './network/certificate.ts'
import { NameResolver } from './network/nameResolver.ts'
import { ownAddresses } from './network/ownAddresses.ts'

/** The tools that all checks of a process share. */
export interface CheckTools {
  readonly resolver: NameResolver
  readonly isForbidden: IsForbidden
  readonly hasRoute: (address: string) => boolean
  readonly secureContext: SecureContext
  readonly certificates: CertificateJudge
  readonly matcher: MatcherThread
  readonly regexBudget: RegexBudget
  /** The proxy for all connections; absent for none. */
  readonly proxy?: TunnelProxy
  readonly userAgent: string
  /** Monotonic microseconds. */
  readonly nowUs: () => number
  readonly close: () => Promise<void>
}

/** Settings for the checks of a process. */
export interface CheckSettings {
  /** Address ranges that the operator allows although they are private. */
  readonly allowedRanges: readonly string[]
  readonly userAgent: string
  /** DNS servers; those of the system when absent. */
  readonly dnsServers?: readonly string[]
  /** CA certificates (PEM) that replace those that Node trusts. */
  readonly authorities?: string
  /** URL of the proxy for all connections; without a proxy when absent. */
  readonly proxy?: string | undefined
}

const US_PER_MS = 1_000

/** Creates the tools of checks. Throws when an allowed range or the proxy is invalid. */
export function openCheckTools(settings: CheckSettings): CheckTools {
  const nowMs = (): number => performance.now()
  const { isOwn, hasRoute } = ownAddresses(nowMs)
  const { isForbidden } = addressRules(settings.allowedRanges, isOwn)
  const resolver = new NameResolver({ servers: settings.dnsServers, nowMs })
  const matcher = new MatcherThread(nowMs)
  const { authorities, proxy } = settings
  return {
    resolver,
    isForbidden,
    hasRoute,
    secureContext: createSecureContext(authorities === undefined ? {} : { ca: authorities }),
    certificates: new CertificateJudge(),
    matcher,
    regexBudget: new RegexBudget(nowMs),
    ...(proxy === undefined ? {} : { proxy: proxyAt(proxy, 'the setting') }),
    userAgent: settings.userAgent,
    nowUs: () => nowMs() * US_PER_MS,
    close: async () => {
      resolver.close()
      await matcher.close()
    },
  }
}
