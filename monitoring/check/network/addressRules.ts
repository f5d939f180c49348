import { BlockList, isIP } from 'node:net'

/** Ranges that no check may reach: private, local, reserved, and cloud services that answer to insiders. Gap G2. */
const FORBIDDEN_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Answers a cloud's own machines from a public range.
  '168.63.129.16/32',
] as const

// Forms that carry an IPv4 address inside (::/96, 64:ff9b::/96, 2002::/16) are forbidden whole.
const FORBIDDEN_V6 = [
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
] as const

/** Names that hosts files give to this machine, besides `localhost` and all below it, with the family of their address. */
const OWN_NAMES: Readonly<Record<string, 'ipv4' | 'ipv6'>> = {
  localhost: 'ipv4',
  'localhost.localdomain': 'ipv4',
  localhost4: 'ipv4',
  'localhost4.localdomain4': 'ipv4',
  localhost6: 'ipv6',
  'localhost6.localdomain6': 'ipv6',
  'ip6-localhost': 'ipv6',
  'ip6-loopback': 'ipv6',
}
const LOOPBACK = { ipv4: '127.0.0.1', ipv6: '::1' } as const

/** Addresses of which the range is remembered: finding it takes as long as a tenth of a check. */
const KNOWN_MAX = 10_000

/** Ports of other protocols: a request to one could be read as a command there. */
const FORBIDDEN_PORTS: ReadonlySet<number> = new Set([
  22, 25, 110, 143, 465, 587, 993, 995, 2_049, 3_306, 5_432, 6_379, 11_211, 27_017,
])

/** Judges a URL's literal address and port; a name is judged where it is resolved, except those that mean this machine. */
export type IsBlocked = (url: string) => boolean
/** Judges what is about to be dialled: an IP address and a port. */
export type IsForbidden = (address: string, port: number) => boolean

/** The rule for an installation whose operator allows ranges. */
export interface AddressRules {
  readonly isBlocked: IsBlocked
  readonly isForbidden: IsForbidden
}

/**
 * The rules for an installation whose operator allows the ranges `allowed` (`127.0.0.0/8`). `isOwn` tells addresses of the
 * machine itself. Throws when one is not a range.
 */
export function addressRules(
  allowed: readonly string[],
  isOwn: (address: string) => boolean = () => false,
): AddressRules {
  const forbidden = blockList([...FORBIDDEN_V4, ...FORBIDDEN_V6])
  const exempt = blockList(allowed)
  const known = new Map<string, 'exempt' | 'forbidden' | 'free'>()
  const rangeOf = (address: string): 'exempt' | 'forbidden' | 'free' => {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (exempt.check(address, family)) return 'exempt'
    return forbidden.check(address, family) ? 'forbidden' : 'free'
  }
  const isForbidden: IsForbidden = (address, port) => {
    const range = known.get(address) ?? rangeOf(address)
    if (known.size >= KNOWN_MAX) known.clear()
    known.set(address, range)
    if (range === 'exempt') return false
    return range === 'forbidden' || FORBIDDEN_PORTS.has(port) || isOwn(address)
  }
  const isBlocked: IsBlocked = (url) => {
    const { hostname, port } = new URL(url)
    const address = literalAddress(hostname)
    return address === undefined ? FORBIDDEN_PORTS.has(Number(port)) : isForbidden(address, Number(port))
  }
  return { isBlocked, isForbidden }
}

/** Whether `port` is one of another protocol. Pure. */
export function isForbiddenPort(port: number): boolean {
  return FORBIDDEN_PORTS.has(port)
}

/**
 * The IP address that the host of a URL is, also when it is a name that means this machine; `undefined` when the name has to
 * be resolved. Pure.
 */
export function literalAddress(hostname: string): string | undefined {
  // The WHATWG parser brings every spelling of an IPv4 address (2130706433, 0x7f.1) into the dotted form.
  const host = hostname.replace(/\.$/, '')
  if (host.startsWith('[')) return host.slice(1, -1)
  if (isIP(host) !== 0) return host
  const family = host.endsWith('.localhost') ? 'ipv4' : Object.hasOwn(OWN_NAMES, host) && OWN_NAMES[host]
  return family ? LOOPBACK[family] : undefined
}

/** Whether `range` is an address range such as 127.0.0.0/8. Pure. */
export function isAddressRange(range: string): boolean {
  const [address = '', bits = '', ...more] = range.split('/')
  const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax
}

/** Whether an address is within one of `ranges`. Throws when one is not a range. Pure. */
export function isInRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = blockList(ranges)
  return (address) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    if (!isAddressRange(range)) throw new Error(`${range} is not an address range such as 127.0.0.0/8`)
    const [address = '', bits = ''] = range.split('/')
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}
