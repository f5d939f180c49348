import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Time for which the list of interfaces is cached (milliseconds). Machines get and lose addresses while they run. */
const LOOK_MS = 60_000
const LINK_LOCAL = /^fe[89ab]/i

/** The addresses of this machine's interfaces. */
export interface OwnAddresses {
  readonly all: () => readonly string[]
  readonly isOwn: (address: string) => boolean
  /** Whether this machine has an address from which it could reach the family of `address`. */
  readonly hasRoute: (address: string) => boolean
}

/** The addresses of this machine, looked up again each minute of the monotonic clock `nowMs`. */
export function ownAddresses(nowMs: () => number): OwnAddresses {
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let own: ReadonlySet<string> = new Set()
  let routed = { ipv4: false, ipv6: false }
  const look = (): void => {
    if (nowMs() - lookedAtMs < LOOK_MS) return
    lookedAtMs = nowMs()
    const found = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
    const outward = found.filter(({ internal, address }) => !internal && !LINK_LOCAL.test(address))
    own = new Set(found.map(({ address }) => address))
    routed = {
      ipv4: outward.some(({ address }) => !isIPv6(address)),
      ipv6: outward.some(({ address }) => isIPv6(address)),
    }
  }
  return {
    all: () => {
      look()
      return [...own]
    },
    isOwn: (address) => {
      look()
      return own.has(address)
    },
    hasRoute: (address) => {
      look()
      return isIPv6(address) ? routed.ipv6 : routed.ipv4
    },
  }
}
