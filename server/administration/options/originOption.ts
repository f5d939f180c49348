import { InvalidArgumentError } from 'commander'

/** Parses an option with the public origin of a listener. */
export function readOrigin(text: string): string {
  if (URL.canParse(text)) {
    const { protocol, origin, pathname, search, hash, username } = new URL(text)
    const isOrigin = pathname === '/' && search === '' && hash === '' && username === ''
    if ((protocol === 'http:' || protocol === 'https:') && isOrigin) return origin
  }
  throw new InvalidArgumentError('must be an address such as https://status.example.org, without a path')
}
