import { BlockList, isIP } from 'node:net'

/** A proxy that connects to any host. */
export interface TunnelProxy {
  readonly url: URL
  /** The variable that names it, as it is spelt. */
  readonly variable: string
  /** Value of Proxy-Authorization; `undefined` without user name and password. A secret. */
  readonly authorization: string | undefined
}

/** A proxy for https, and the hosts that are reached without it. */
export interface HttpsProxy extends TunnelProxy {
  /** Whether connections to this host and port go through it. */
  readonly covers: (host: string, port: number) => boolean
}

/**
 * The proxy of HTTPS_PROXY and NO_PROXY, or their spelling in lower case, which wins; `undefined` for none. Throws for an
 * invalid address without quoting it: it may contain a password. Pure.
 */
export function proxyOf(environment: Readonly<Record<string, string | undefined>>): HttpsProxy | undefined {
  const [name, text] = variableOf(environment, 'https_proxy')
  if (text === '') return undefined
  const proxy = proxyAt(text, name)
  const [, exceptions] = variableOf(environment, 'no_proxy')
  const rules = exceptions.split(/[\s,]+/).filter((rule) => rule !== '')
  return {
    ...proxy,
    covers: (host, port) => !isLoopback(host) && !rules.some((rule) => matches(rule, bare(host), port)),
  }
}

/** The proxy whose address is the value of `variable`. Throws like `proxyOf`. Pure. */
export function proxyAt(text: string, variable: string): TunnelProxy {
  const url = urlOf(text.includes('://') ? text : `http://${text}`)
  if (url === undefined) throw new Error(`${variable} is not the address of a proxy: write http://host:port`)
  return { url, variable, authorization: authorizationOf(url) }
}

function variableOf(
  environment: Readonly<Record<string, string | undefined>>,
  name: string,
): readonly [name: string, value: string] {
  const lower = environment[name]?.trim() ?? ''
  return lower === '' ? [name.toUpperCase(), environment[name.toUpperCase()]?.trim() ?? ''] : [name, lower]
}

/** `undefined` for what is no http or https address of a host. */
function urlOf(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const isPlain = url.pathname === '/' && url.search === '' && url.hash === ''
  return ['http:', 'https:'].includes(url.protocol) && url.hostname !== '' && isPlain ? url : undefined
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined
  return `Basic ${Buffer.from(`${part(username)}:${part(password)}`, 'utf8').toString('base64')}`
}

/** User name or password, in clear. */
function part(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    // A percent sign that encodes nothing is meant as it stands.
    return encoded
  }
}

/** A host without the brackets of an IPv6 address and the last dot of a name, in lower case. */
function bare(host: string): string {
  return host.toLowerCase().replace(/^\[|\]$|\.$/g, '')
}

function isLoopback(host: string): boolean {
  const name = bare(host)
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIP(name) === 4 && name.startsWith('127.'))
  )
}

/** Whether a rule of NO_PROXY names the host: `*`, a name with all names below it, an address or a range, each with a port or none. */
function matches(rule: string, host: string, port: number): boolean {
  if (rule === '*') return true
  const { name, itsPort } = splitRule(rule)
  if (itsPort !== undefined && itsPort !== port) return false
  if (name.includes('/')) return isInRange(name, host)
  const below = bare(name.replace(/^\*?\./, ''))
  return host === below || (isIP(host) === 0 && host.endsWith(`.${below}`))
}

function splitRule(rule: string): { readonly name: string; readonly itsPort: number | undefined } {
  // The colons of an IPv6 address without brackets are none of a port.
  const [, name = rule, port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(rule) ?? []
  return { name, itsPort: port === undefined ? undefined : Number(port) }
}

function isInRange(range: string, host: string): boolean {
  const [address = '', bits = ''] = range.split('/')
  const family = isIP(bare(address))
  if (family === 0 || family !== isIP(host) || !/^\d{1,3}$/.test(bits)) return false
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  if (Number(bits) > (family === 4 ? 32 : 128)) return false
  const list = new BlockList()
  list.addSubnet(bare(address), Number(bits), kind)
  return list.check(host, kind)
}
