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

/** Judges a URL's literal address; a name is judged where it is resolved, except those that mean this machine. */
export type IsBlocked = (url: string) => boolean

/**
 * The rule for an installation whose operator allows the ranges `allowed` (`127.0.0.0/8`). Throws when one is
 * not a range.
 */
export function addressRules(allowed: readonly string[]): IsBlocked {
  const forbidden = blockList([...FORBIDDEN_V4, ...FORBIDDEN_V6])
  const exempt = blockList(allowed)
  const isForbidden = (address: string, family: 'ipv4' | 'ipv6') =>
    forbidden.check(address, family) && !exempt.check(address, family)
  return (url) => {
    // The WHATWG parser brings every spelling of an IPv4 address (2130706433, 0x7f.1) into the dotted form.
    const host = new URL(url).hostname.replace(/\.$/, '')
    if (host.startsWith('[')) return isForbidden(host.slice(1, -1), 'ipv6')
    if (isIP(host) === 4) return isForbidden(host, 'ipv4')
    const family = host.endsWith('.localhost') ? 'ipv4' : Object.hasOwn(OWN_NAMES, host) && OWN_NAMES[host]
    return family ? isForbidden(LOOPBACK[family], family) : false
  }
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/')
    const family = isIP(address)
    const bitsMax = family === 6 ? 128 : 32
    if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > bitsMax) {
      throw new Error(`${range} is not an address range such as 127.0.0.0/8`)
    }
    list.addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}
