import type { Cookie } from './route.ts'

/** Cookies of the console. The prefix makes browsers refuse them from other hosts and without Secure. */
export const SESSION_COOKIE = '__Host-pharos'
export const DEVICE_COOKIE = '__Host-pharos-device'
export const FLASH_COOKIE = '__Host-pharos-flash'

/** The header Set-Cookie for `cookie`. Scripts cannot read it, and other sites cannot send it with a form. Pure. */
export function setCookie({ name, value, maxAgeS }: Cookie): string {
  const age = value === '' ? 0 : maxAgeS
  return `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax${age === undefined ? '' : `; Max-Age=${age}`}`
}
