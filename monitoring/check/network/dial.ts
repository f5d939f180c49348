import { connect, isIPv6, type Socket } from 'node:net'
import type { AttemptClock } from '../outcome/attemptClock.ts'
import { CheckFault } from '../outcome/reason.ts'
import type { IsForbidden } from './addressRules.ts'

/** Errors that this machine causes, whatever the target. */
const LOCAL_ERRORS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

/** The rules for choosing an address. */
export interface AddressChoice {
  readonly isForbidden: IsForbidden
  readonly hasRoute: (address: string) => boolean
}

/** The rules for dialling an address. */
export interface DialRules extends AddressChoice {
  /** Time limit for connecting (milliseconds); absent when only the limit of the attempt applies. */
  readonly connectMsMax?: number
}

/**
 * The address that attempt `attemptIndex` dials. Forbidden addresses are left out, then those of a family without a route. The
 * rest take turns, so that an address that does not respond is noticed. Throws CheckFault when all are forbidden.
 */
export function chooseAddress(
  addresses: readonly string[],
  port: number,
  attemptIndex: number,
  { isForbidden, hasRoute }: AddressChoice,
): string {
  const allowed = addresses.filter((address) => !isForbidden(address, port))
  const routed = allowed.filter(hasRoute)
  const candidates = routed.length > 0 ? routed : allowed
  const address = candidates[attemptIndex % candidates.length]
  if (address !== undefined) return address
  const [first = ''] = addresses
  throw forbiddenFault(first, port)
}

/**
 * Connects to `address`, after judging it once more: only this function dials, so that no name, redirect or second
 * attempt can bypass the rules. Rejects with CheckFault.
 */
export function dial(
  address: string,
  port: number,
  clock: AttemptClock,
  { isForbidden, hasRoute, connectMsMax }: DialRules,
): Promise<Socket> {
  return clock.wait('connect', (resolve, reject) => {
    if (isForbidden(address, port)) {
      reject(forbiddenFault(address, port))
      return () => {}
    }
    const socket = connect({ host: address, port, noDelay: true, autoSelectFamily: false })
    if (connectMsMax !== undefined) {
      const timer = setTimeout(() => {
        socket.destroy()
        reject(connectFault('ETIMEDOUT', shownAddress(address, port), true))
      }, connectMsMax)
      for (const end of ['connect', 'close']) socket.once(end, () => clearTimeout(timer))
    }
    socket.once('connect', () => resolve(socket))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      reject(connectFault(error.code ?? '', shownAddress(address, port), hasRoute(address)))
    })
    return () => socket.destroy()
  })
}

/** The message names both flags, because an agent reaches only addresses that the server and its own flag allow. */
export function forbiddenFault(address: string, port: number): CheckFault {
  return new CheckFault(
    'address_forbidden',
    `${shownAddress(address, port)} is not allowed: see --allow-ranges of pharos-server serve (and of the region's pharos-agent), or of pharos test`,
  )
}

/** `198.51.100.7:443 (IPv4)`. Pure. */
export function shownAddress(address: string, port: number): string {
  return isIPv6(address) ? `[${address}]:${port} (IPv6)` : `${address}:${port} (IPv4)`
}

function connectFault(code: string, where: string, hasRoute: boolean): CheckFault {
  if (code === 'ECONNREFUSED') return new CheckFault('connect_refused', `connection refused by ${where}`)
  if (code === 'ETIMEDOUT') return new CheckFault('connect_timeout', `no connection to ${where} in time`)
  if (LOCAL_ERRORS.has(code) || (code === 'ENETUNREACH' && !hasRoute)) {
    return new CheckFault('agent_local', `this machine could not connect to ${where} (${code})`)
  }
  return new CheckFault('connect_unreachable', `${where} cannot be reached (${code})`)
}
