import { isIP } from 'node:net'

/**
 * The address of a server as an agent may use it. Throws, with what to do, for what is no URL, and for `http` to any machine but
 * this one: the token would be readable on the way. Pure.
 */
export function serverAddress(text: string): URL {
  if (!URL.canParse(text)) throw new Error(`${text} is no URL: write https://host:port`)
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(
      `${text} does not begin with https://: write https://host:port, or http://localhost:port on this machine`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('the server URL must not hold a user name or password: the token is all that is needed')
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new Error(`http://${url.host} would show the token to everything on the way: use https`)
  }
  return url
}

function isLoopback(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '')
  return address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
}
