import { BlockList, isIP } from 'node:net'

/** Ranges that no check may reach: private, local, reserved, and internal cloud services. Gap G2. */
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
  // A public range that serves only a cloud's own machines.
  '168.63.129.16/32',
] as const

/** Addresses of the public IPv6 Internet, and IPv4 addresses in the form of IPv6; all others are forbidden. */
const PUBLIC_V6 = ['2000::/3', '::ffff:0:0/96'] as const
// 6to4 (2002::/16) and Teredo (in 2001::/23) embed an IPv4 address.
const FORBIDDEN_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'] as const

/** Names of this machine in hosts files, besides `localhost` and its subdomains, with the family of their address. */
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

/** Maximum number of addresses in the cache of ranges. Finding a range takes a tenth of the time of a check. */
const KNOWN_MAX = 10_000

/** Ports of other protocols, where a request could be interpreted as a command. */
const FORBIDDEN_PORTS: ReadonlySet<number> = new Set([
  22, 25, 110, 143, 465, 587, 993, 995, 2_049, 3_306, 5_432, 6_379, 11_211, 27_017,
])

/**
 * Whether the host or port of a URL is forbidden. A name counts as allowed, because it is judged when it is resolved;
 * names of this machine are judged at once.
 */
export type IsBlocked = (url: string) => boolean
/** Whether an IP address or port must not be dialled. */
export type IsForbidden = (address: string, port: number) => boolean

/** The address rules of an installation. */
export interface AddressRules {
  readonly isBlocked: IsBlocked
  readonly isForbidden: IsForbidden
}

/**
 * The rules for an installation whose operator allows the ranges `allowed` (`127.0.0.0/8`). `isOwn` recognises
 * addresses of the machine itself. Throws when a range is invalid.
 */
export function addressRules(
  allowed: readonly string[],
  isOwn: (address: string) => boolean = () => false,
): AddressRules {
  const forbidden = blockList([...FORBIDDEN_V4, ...FORBIDDEN_V6])
  const publicV6 = blockList(PUBLIC_V6)
  const exempt = blockList(allowed)
  const known = new Map<string, 'exempt' | 'forbidden' | 'free'>()
  const rangeOf = (address: string): 'exempt' | 'forbidden' | 'free' => {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (exempt.check(address, family)) return 'exempt'
    const isPublic = family === 'ipv4' || publicV6.check(address, family)
    return isPublic && !forbidden.check(address, family) ? 'free' : 'forbidden'
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

/** Whether `port` belongs to another protocol. Pure. */
export function isForbiddenPort(port: number): boolean {
  return FORBIDDEN_PORTS.has(port)
}

/**
 * The IP address of a URL's host, if it is a literal address or a name of this machine; `undefined` when it must be
 * resolved. Pure.
 */
export function literalAddress(hostname: string): string | undefined {
  // The WHATWG parser converts every spelling of an IPv4 address (2130706433, 0x7f.1) to the dotted form.
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

/** Returns a function that tells whether an address is in one of `ranges`. Throws when a range is invalid. Pure. */
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
