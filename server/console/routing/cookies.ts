import type { Cookie } from './route.ts'

/** Cookies of the console. With this prefix, browsers require Secure and refuse them from other hosts. */
export const SESSION_COOKIE = '__Host-pharos'
export const DEVICE_COOKIE = '__Host-pharos-device'
export const FLASH_COOKIE = '__Host-pharos-flash'

/** The Set-Cookie header for `cookie`. Scripts cannot read it, and forms of other sites do not send it. Pure. */
export function setCookie({ name, value, maxAgeS }: Cookie): string {
  const age = value === '' ? 0 : maxAgeS
  return `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax${age === undefined ? '' : `; Max-Age=${age}`}`
}
