import { cookieOf } from '../../../web/browserRequest.ts'
import { DEVICE_MAX_AGE_S, deviceOf, newDevice } from '../credentials/deviceCookie.ts'
import { DEVICE_COOKIE } from '../routing/cookies.ts'
import type { ConsoleRequest, Cookie } from '../routing/route.ts'

/** The device of the request, if it signed in as this person before; otherwise `undefined`. */
export async function knownDevice(
  { store, findMasterKey, headers }: ConsoleRequest,
  personId: string,
): Promise<string | undefined> {
  const { cookie } = headers
  const value = cookieOf(typeof cookie === 'string' ? cookie : undefined, DEVICE_COOKIE)
  const keys = (await store.masterKeyIds()).map(findMasterKey)
  return deviceOf(value, personId, keys)
}

/** The cookie that identifies this device next time. Rejects when no master key is active. */
export async function deviceCookie(
  { store, findMasterKey, environment }: ConsoleRequest,
  personId: string,
): Promise<Cookie> {
  const [active = ''] = await store.masterKeyIds()
  const value = newDevice(personId, findMasterKey(active), environment.randomBytes)
  return { name: DEVICE_COOKIE, value, maxAgeS: DEVICE_MAX_AGE_S }
}
