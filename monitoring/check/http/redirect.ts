import { parsedUrl } from '../../../api/contract/endpointUrl.ts'
import { CheckFault } from '../outcome/reason.ts'
import type { RequestHop } from './requestHop.ts'
import { headerValues, type ResponseHead } from './responseHead.ts'

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Headers about a body, which are dropped with it. */
const BODY_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'content-language',
  'content-location',
])
/** Headers that apply to only one origin, like the sealed ones. */
const ORIGIN_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'host'])

/** Whether `head` is a redirect to follow. Without a Location it is final, as in browsers. Pure. */
export function isRedirect(head: ResponseHead): boolean {
  return REDIRECTS.has(head.status) && headerValues(head, 'location').length > 0
}

/**
 * The next request after the redirect `head`, which is the response to `hop`. Throws CheckFault when the redirect has
 * no usable target. Pure.
 */
export function redirectOf(hop: RequestHop, head: ResponseHead): RequestHop {
  const [location = '', ...more] = headerValues(head, 'location')
  // Browsers decode the bytes as UTF-8.
  const url = parsedUrl(Buffer.from(location, 'latin1').toString('utf8'), hop.url.href)
  if (more.length > 0 || url === undefined || !isCheckable(url)) {
    throw new CheckFault(
      'redirect_invalid',
      `redirect ${head.status} from ${shownUrl(hop.url)} has no target that can be checked`,
    )
  }
  url.hash = ''
  const isOtherOrigin = url.origin !== hop.url.origin
  const keepsMethod =
    head.status === 307 || head.status === 308 || (hop.method === 'GET' && head.status !== 303)
  const body = keepsMethod ? hop.body : null
  if (isOtherOrigin && body?.isSealed === true) {
    throw new CheckFault(
      'redirect_invalid',
      `redirect ${head.status} to ${shownUrl(url)} would send the sealed body to another origin`,
    )
  }
  const headers = hop.headers.filter(({ name, isSealed }) => {
    const lower = name.toLowerCase()
    if (isOtherOrigin && (isSealed || ORIGIN_HEADERS.has(lower))) return false
    return body !== null || !BODY_HEADERS.has(lower)
  })
  return { url, method: keepsMethod ? hop.method : 'GET', headers, body }
}

function isCheckable({ protocol, hostname, username, password, port }: URL): boolean {
  return /^https?:$/.test(protocol) && hostname !== '' && username === '' && password === '' && port !== '0'
}

/** `url` without its query and fragment, which may contain secrets. Pure. */
export function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`
}
