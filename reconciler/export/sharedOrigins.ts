import { ENVIRONMENT_LIMITS } from '../manifest/manifestLimits.ts'
import type { Mapping } from '../manifest/mapping.ts'
import { API_VERSION } from '../manifest/schema/serviceManifest.ts'
import { distinctNames } from './exportService.ts'
import { endpointsOf, specOf } from './manifestParts.ts'

/** Number of endpoints from which an origin becomes a variable. */
const ENDPOINTS_MIN = 2

/**
 * The scheme, the host and the port of a URL, before a path, a query or a fragment. An escaped reference to a variable is part of
 * no origin.
 */
const ORIGIN = /^(https?):\/\/([^/?#$]+)(?=[/?#]|$)/i

/**
 * Replaces the origins that several endpoints of `manifests`, which `exportService` returned, have in common by variables of an
 * Environment with the name `name`. With this Environment the result compiles to the same services. Pure.
 */
export function withSharedOrigins(
  manifests: readonly object[],
  name: string,
): { readonly environment: object; readonly manifests: readonly object[] } {
  const variables = variablesFor(sharedOrigins(manifests))
  return {
    environment: {
      apiVersion: API_VERSION,
      kind: 'Environment',
      metadata: { name },
      spec: { vars: Object.fromEntries([...variables].map(([origin, variable]) => [variable, origin])) },
    },
    manifests: manifests.map((manifest) => ({
      ...manifest,
      spec: {
        ...specOf(manifest),
        endpoints: endpointsOf(specOf(manifest)).map((endpoint) => withReference(endpoint, variables)),
      },
    })),
  }
}

/**
 * The origins that at least two endpoints have, as many as an Environment may have variables; sorted, so that names do not depend
 * on the order of the services.
 */
function sharedOrigins(manifests: readonly object[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { url } of manifests.map(specOf).flatMap(endpointsOf)) {
    const origin = originOf(url)
    if (origin !== undefined) counts.set(origin, (counts.get(origin) ?? 0) + 1)
  }
  const shared = [...counts].flatMap(([origin, count]) => (count < ENDPOINTS_MIN ? [] : [origin]))
  return shared.sort().slice(0, ENVIRONMENT_LIMITS.itemsMax)
}

/** A variable with a name of its own for each of `origins`. */
function variablesFor(origins: readonly string[]): ReadonlyMap<string, string> {
  const distinct = distinctNames('_')
  return new Map(origins.map((origin) => [origin, distinct(variableFor(origin))]))
}

/** `shop_example_com` for https://shop.example.com, `http_shop_8080` for http://shop:8080. */
function variableFor(origin: string): string {
  const [, scheme = '', host = ''] = ORIGIN.exec(origin.toLowerCase()) ?? []
  const name = host
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')
  // The name of a variable starts with a letter.
  return scheme === 'http' || !/^[a-z]/.test(name) ? `${scheme}_${name}`.replace(/_$/, '') : name
}

function withReference(endpoint: Mapping, variables: ReadonlyMap<string, string>): Mapping {
  const { url } = endpoint
  const origin = originOf(url)
  const variable = origin === undefined ? undefined : variables.get(origin)
  if (typeof url !== 'string' || origin === undefined || variable === undefined) return endpoint
  return { ...endpoint, url: `\${var.${variable}}${url.slice(origin.length)}` }
}

function originOf(url: unknown): string | undefined {
  return typeof url === 'string' ? ORIGIN.exec(url)?.[0] : undefined
}
