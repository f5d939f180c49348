import { DEVICE_MAX_AGE_S, deviceOf, newDevice } from '../credentials/deviceCookie.ts'
import { cookieOf } from '../../../web/browserRequest.ts'
import { DEVICE_COOKIE } from '../routing/cookies.ts'
import type { Asked, Cookie } from '../routing/route.ts'

/** The device that signed in as the person before; `undefined` for an unknown one. */
export async function knownDevice(
  { store, findMasterKey, headers }: Asked,
  personId: string,
): Promise<string | undefined> {
  const { cookie } = headers
  const value = cookieOf(typeof cookie === 'string' ? cookie : undefined, DEVICE_COOKIE)
  const keys = (await store.masterKeyIds()).map(findMasterKey)
  return deviceOf(value, personId, keys)
}

/** The cookie by which this device is known next time. Rejects when no master key is active. */
export async function deviceCookie(
  { store, findMasterKey, environment }: Asked,
  personId: string,
): Promise<Cookie> {
  const [active = ''] = await store.masterKeyIds()
  const value = newDevice(personId, findMasterKey(active), environment.randomBytes)
  return { name: DEVICE_COOKIE, value, maxAgeS: DEVICE_MAX_AGE_S }
}
