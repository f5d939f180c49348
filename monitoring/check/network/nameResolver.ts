import { promises as dns } from 'node:dns'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { CheckFault } from '../outcome/reason.ts'

/**
 * Time limit for one query to one server (milliseconds), and the number of tries. The deadline of the check may end it
 * earlier.
 */
const QUERY_MS = 2_500
const TRIES = 2
/** Maximum time for which an answer is cached (milliseconds), whatever its TTL, and for a failure. */
const CACHED_MS_MAX = 60_000
const FAILURE_CACHED_MS = 1_000
const CACHED_NAMES_MAX = 10_000
/**
 * Interval at which the DNS servers of the system are read again (milliseconds). Machines change networks while they
 * run.
 */
const SERVERS_MS = 10_000
const MS_PER_SECOND = 1_000

const HOSTS_FILE = '/etc/hosts'
/** Errors of c-ares that mean the name has no such record. */
const NO_RECORD: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA'])

type Answer =
  | { readonly addresses: readonly string[]; readonly ttlMs: number }
  | { readonly fault: CheckFault }

/** Settings and dependencies of a resolver. */
export interface ResolverSettings {
  /** DNS servers (`127.0.0.1:53`); those of the system when absent. */
  readonly servers?: readonly string[] | undefined
  /** A resolver with the DNS servers that the system has now. */
  readonly systemResolver?: () => dns.Resolver
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  /** Text of the hosts file. */
  readonly readHosts?: () => Promise<string>
}

/**
 * Resolves names by DNS, or else by the hosts file. It does not use the operating system's resolver, because
 * `dns.lookup` has four threads, and slow names would delay every check.
 */
export class NameResolver {
  readonly #open: () => dns.Resolver
  #resolver: dns.Resolver
  #openedMs: number
  readonly #nowMs: () => number
  readonly #readHosts: () => Promise<string>
  readonly #cache = new Map<string, { readonly answer: Answer; readonly untilMs: number }>()
  readonly #pending = new Map<string, Promise<Answer>>()

  constructor({
    servers,
    systemResolver = () => new dns.Resolver({ timeout: QUERY_MS, tries: TRIES }),
    nowMs,
    readHosts = () => readFile(HOSTS_FILE, 'utf8'),
  }: ResolverSettings) {
    this.#open = () => {
      const resolver = systemResolver()
      if (servers !== undefined) resolver.setServers([...servers])
      return resolver
    }
    this.#resolver = this.#open()
    this.#openedMs = nowMs()
    this.#nowMs = nowMs
    this.#readHosts = readHosts
  }

  /** Cached addresses of `name`; `undefined` when it must be resolved. Throws the CheckFault of a cached failure. */
  known(name: string): readonly string[] | undefined {
    const cached = this.#cache.get(name)
    return cached !== undefined && cached.untilMs > this.#nowMs() ? addressesOf(cached.answer) : undefined
  }

  /**
   * Addresses of `name`, IPv4 first and sorted, so that their order is stable. With `isFresh`, a query is
   * sent for this call alone; other calls at the same time share one. Rejects with CheckFault when the name has none.
   */
  async resolve(name: string, isFresh: boolean): Promise<readonly string[]> {
    return addressesOf(await (isFresh ? this.#query(name) : this.#queryOnce(name)))
  }

  /** Cancels queries in progress. */
  close(): void {
    this.#resolver.cancel()
  }

  /** The resolver for a new query. Queries in progress stay with the previous one when the DNS servers have changed. */
  #current(): dns.Resolver {
    if (this.#nowMs() - this.#openedMs < SERVERS_MS) return this.#resolver
    this.#openedMs = this.#nowMs()
    const opened = this.#open()
    if (opened.getServers().join() !== this.#resolver.getServers().join()) this.#resolver = opened
    return this.#resolver
  }

  /** Shares one query between checks that resolve a name at the same time. */
  #queryOnce(name: string): Promise<Answer> {
    const pending = this.#pending.get(name) ?? this.#query(name).finally(() => this.#pending.delete(name))
    this.#pending.set(name, pending)
    return pending
  }

  async #query(name: string): Promise<Answer> {
    const resolver = this.#current()
    const records = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ])
    const found = records.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    const codes = records.flatMap((one) => (one.status === 'rejected' ? String(one.reason?.code) : []))
    const ttlMs = Math.min(CACHED_MS_MAX, ...found.map(({ ttl }) => ttl * MS_PER_SECOND))
    const addresses =
      found.length > 0 ? sorted(found.map(({ address }) => address)) : await this.#fromHosts(name)
    const answer = addresses.length > 0 ? { addresses, ttlMs } : { fault: faultOf(codes, name) }
    this.#cacheAnswer(name, answer)
    return answer
  }

  #cacheAnswer(name: string, answer: Answer): void {
    const [oldest] = this.#cache.size >= CACHED_NAMES_MAX ? this.#cache.keys() : []
    if (oldest !== undefined) this.#cache.delete(oldest)
    const cachedMs = 'fault' in answer ? FAILURE_CACHED_MS : answer.ttlMs
    this.#cache.set(name, { answer, untilMs: this.#nowMs() + cachedMs })
  }

  async #fromHosts(name: string): Promise<readonly string[]> {
    const text = await this.#readHosts().catch(() => '')
    const wanted = name.replace(/\.$/, '').toLowerCase()
    return text.split('\n').flatMap((line) => {
      const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
      return isIP(address) !== 0 && names.some((one) => one.toLowerCase() === wanted) ? [address] : []
    })
  }
}

function addressesOf(answer: Answer): readonly string[] {
  if ('fault' in answer) throw answer.fault
  return answer.addresses
}

function sorted(addresses: readonly string[]): readonly string[] {
  return addresses.toSorted((a, b) => isIP(a) - isIP(b) || (a < b ? -1 : 1))
}

function faultOf(codes: readonly string[], name: string): CheckFault {
  if (codes.every((code) => NO_RECORD.has(code))) {
    return new CheckFault('dns_name_unknown', `name ${name} has no address`)
  }
  // With this error of c-ares, no DNS server of this machine could be reached.
  if (codes.every((code) => code === 'ECONNREFUSED')) {
    return new CheckFault('agent_local', 'no DNS server of this machine responds')
  }
  const code = codes.find((one) => !NO_RECORD.has(one)) ?? ''
  const reason = code === 'ETIMEOUT' ? 'dns_timeout' : 'dns_failed'
  const what = reason === 'dns_timeout' ? 'could not be resolved in time' : `could not be resolved (${code})`
  return new CheckFault(reason, `name ${name} ${what}`)
}
