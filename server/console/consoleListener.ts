import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import packageJson from '../../package.json' with { type: 'json' }
import { cookieOf, isSameOrigin } from '../../web/browserRequest.ts'
import { html } from '../../web/html.ts'
import { serveAssets } from '../http/pages/assets.ts'
import { browserApp } from '../http/pages/browserApp.ts'
import { hardenedHeaders } from '../http/pages/hardenedHeaders.ts'
import type { CertificateSource } from '../http/transport/certificate.ts'
import { signedInOf } from './accounts/session.ts'
import { consoleRoutes } from './consoleRoutes.ts'
import { clientAddress, networkOf } from './credentials/clientNetwork.ts'
import { parseForm } from './forms/parseForm.ts'
import { ASSETS } from './frame/assets.ts'
import { framed } from './frame/frame.ts'
import { type GuardedResult, runGuarded } from './guard.ts'
import { ConcurrencyLimit } from './limits/concurrencyLimit.ts'
import { pageOfError } from './routing/pageOfError.ts'
import { FLASH_COOKIE, setCookie } from './routing/cookies.ts'
import { messagePage, NOT_FOUND_PAGE, signInAgainPage, TOO_MANY_AT_ONCE } from './routing/messagePages.ts'
import type { ConsoleAddress } from './routing/requestRules.ts'
import {
  type RouteResponse,
  type ConsoleParts,
  type ConsoleRequest,
  FORM_BYTES_MAX,
  type Page,
  type Route,
} from './routing/route.ts'

/** Dependencies of the listener. */
export interface ConsoleListenerParts extends Omit<ConsoleParts, 'consoleUrl'> {
  /** Absent for a listener without TLS. */
  readonly tls?: CertificateSource | undefined
  /** Public origin; a port of 0 is only known once it listens. */
  readonly consoleUrlOf: () => string
  /** Origins and hosts under which it is reached. */
  readonly addressOf: () => ConsoleAddress
  /** Trusted proxies in front of it, which set X-Forwarded-For. */
  readonly proxies: number
  readonly connectionsMax: number
}

/** Concurrent requests of one person: two browsers with six connections each. */
const REQUESTS_MAX = 12

/**
 * The console on Fastify, not yet listening. It shares nothing with the API but the database, and never reads the
 * header Authorization. Gap G54.
 */
export function buildConsole(parts: ConsoleListenerParts): FastifyInstance {
  const isSecure = parts.consoleUrlOf().startsWith('https:')
  const concurrencyLimit = new ConcurrencyLimit(REQUESTS_MAX)
  const send = (request: FastifyRequest, reply: FastifyReply, result: GuardedResult): FastifyReply =>
    sendResponse({ request, reply, isSecure }, result)
  const sendOutside = (request: FastifyRequest, reply: FastifyReply, response: RouteResponse): FastifyReply =>
    send(request, reply, { response, signedIn: undefined, org: undefined })
  const app = browserApp(
    parts.connectionsMax,
    (reply) =>
      reply
        .code(400)
        .headers(hardenedHeaders(isSecure))
        .header('cache-control', 'no-store')
        .type('text/plain')
        .send('malformed request'),
    parts.tls,
  )
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    async (_request: FastifyRequest, body: string) => parseForm(body),
  )
  app.addHook('onRequest', async (request, reply) => {
    const address = parts.addressOf()
    if (!address.hosts.has(request.headers.host?.toLowerCase() ?? '')) {
      return sendOutside(
        request,
        reply,
        messagePage(421, 'Wrong host', 'The console has a different address.'),
      )
    }
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead || isSameOrigin(request.headers, (origin) => address.origins.has(origin))) return
    const text = 'This form was sent by another site, or by a browser too old to tell. Nothing was changed.'
    return sendOutside(request, reply, messagePage(403, 'Not permitted', text))
  })
  serveAssets(app, ASSETS.files, isSecure, (request, reply) => sendOutside(request, reply, NOT_FOUND_PAGE))
  for (const route of consoleRoutes) {
    app.route({
      method: route.method,
      url: route.path,
      bodyLimit: route.formBytesMax ?? FORM_BYTES_MAX,
      onRequest: async (request, reply) => {
        if (route.method === 'GET' || route.access === 'anyone') return
        const nowMs = parts.environment.nowMs()
        // Rejects strangers before reading their form, which may be large and slow.
        const signedIn = await signedInOf({ store: parts.store, nowMs }, request.headers.cookie)
        if (signedIn === undefined) return sendOutside(request, reply, signInAgainPage())
      },
      handler: async (request, reply) =>
        send(request, reply, await runRoute({ parts, concurrencyLimit, route }, request)),
    })
  }
  app.setNotFoundHandler((request, reply) => sendOutside(request, reply, NOT_FOUND_PAGE))
  app.setErrorHandler((error, request, reply) =>
    sendOutside(request, reply, pageOfError(error, parts.onError)),
  )
  return app
}

interface RouteRun {
  readonly parts: ConsoleListenerParts
  readonly concurrencyLimit: ConcurrencyLimit
  readonly route: Route
}

/** Runs a route for a request; an error becomes a page. */
async function runRoute(
  { parts, concurrencyLimit, route }: RouteRun,
  request: FastifyRequest,
): Promise<GuardedResult> {
  const nowMs = parts.environment.nowMs()
  const consoleRequest: ConsoleRequest = {
    ...parts,
    consoleUrl: parts.consoleUrlOf(),
    nowMs,
    // True because each part of a path is text.
    params: request.params as Readonly<Record<string, string>>,
    query: new URLSearchParams(request.url.split('?', 2)[1] ?? ''),
    form: request.body instanceof URLSearchParams ? request.body : new URLSearchParams(),
    url: request.url,
    network: networkOf(
      clientAddress(request.socket.remoteAddress ?? '', request.headers['x-forwarded-for'], parts.proxies),
    ),
    headers: request.headers,
  }
  const signedIn = await signedInOf(consoleRequest, request.headers.cookie)
  const run = (): Promise<GuardedResult> =>
    runGuarded(route, consoleRequest, signedIn).catch((error: unknown) => {
      const org = signedIn?.memberships.find(({ orgId }) => orgId === consoleRequest.params.org)
      return { response: pageOfError(error, parts.onError), signedIn, org }
    })
  if (signedIn === undefined) return run()
  const result = await concurrencyLimit.run(signedIn.person.id, run)
  return result ?? { response: TOO_MANY_AT_ONCE, signedIn, org: undefined }
}

interface Sending {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly isSecure: boolean
}

function sendResponse(sending: Sending, result: GuardedResult): FastifyReply {
  const { reply, isSecure } = sending
  const { response } = result
  reply.headers(hardenedHeaders(isSecure)).header('cache-control', 'no-store')
  switch (response.kind) {
    case 'not found':
      return sendPage(sending, { ...result, response: NOT_FOUND_PAGE })
    case 'page':
      return sendPage(sending, { ...result, response })
    case 'redirect': {
      const { to, flash, cookies = [], isEnd = false } = response
      const said = flash === undefined ? [] : [{ name: FLASH_COOKIE, value: encodeURIComponent(flash) }]
      // The flash message is shown on the next page.
      if (isEnd) reply.header('clear-site-data', '"cache"')
      reply.header('set-cookie', [...cookies, ...said].map(setCookie))
      return reply.code(303).header('location', to).send()
    }
    case 'file':
      return reply
        .type(response.type)
        .header('content-disposition', `attachment; filename="${response.name}"`)
        .send(response.content)
    case 'stream':
      response.start(reply)
      return reply
  }
}

function sendPage(
  { request, reply }: Sending,
  { response, signedIn, org, notices }: GuardedResult & { readonly response: Page },
): FastifyReply {
  const { title, section, status = 200, retryAfterS, cookies = [], isBare = false } = response
  const isLost = response.mayResend === true && request.method === 'POST'
  const body = html`${response.body}${isLost && html`<p>Reload this page to send your input again.</p>`}`
  const flash = cookieOf(request.headers.cookie, FLASH_COOKIE) ?? ''
  const shown = flash === '' ? [] : [{ name: FLASH_COOKIE, value: '' }]
  if (cookies.length + shown.length > 0) reply.header('set-cookie', [...cookies, ...shown].map(setCookie))
  if (retryAfterS !== undefined) reply.header('retry-after', String(retryAfterS))
  const document = framed({
    ...{ title, body, section, org, isBare, notices },
    flash: decoded(flash),
    person: signedIn?.person,
    memberships: signedIn?.memberships ?? [],
    version: packageJson.version,
  })
  return reply.code(status).type('text/html; charset=utf-8').send(document)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not set by this console.
    return ''
  }
}
