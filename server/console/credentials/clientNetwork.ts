import { isIPv6 } from 'node:net'

/**
 * The address of the client: that of the socket, or the one that the outermost of `proxies` trusted proxies saw,
 * counted from the right of X-Forwarded-For. Clients can forge entries further left. Pure.
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | readonly string[] | undefined,
  proxies: number,
): string {
  if (proxies === 0 || forwardedFor === undefined) return socketAddress
  const seen = [forwardedFor].flat().join(',').split(',')
  return seen.at(-proxies)?.trim() || socketAddress
}

/** The network of one client: an IPv4 address, or the first 64 bits of an IPv6 address. Pure. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
