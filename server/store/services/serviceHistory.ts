import type { ServiceResponse } from '../../../api/contract/service.ts'
import type { ChangeOrigin } from '../../domain/changeOrigin.ts'
import { pastDefinition } from '../../domain/pastDefinition.ts'
import { definitionJson } from '../scripts/definitionJson.ts'
import { rows, type Scripts } from '../scripts/script.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import type { ServiceGeneration, ServiceStore } from '../store.ts'

/** A stored generation; the current one has its response as `definition`, and no end. */
interface GenerationRow {
  readonly generation: number
  readonly untilMs: number | null
  /** ChangeOrigin as JSON. */
  readonly origin: string | null
  readonly definition: string | null
}

/** A service and the origin of its current generation. */
interface CurrentRow {
  readonly id: string
  readonly name: string
  readonly origin: string | null
}

/** The past of services, as changes stored it. */
export function serviceHistory({ read }: Scripts) {
  return {
    generationsOf: (serviceId) =>
      read(function* () {
        const found = yield* rows<GenerationRow>(
          `SELECT generation, NULL AS "untilMs", origin, response AS definition FROM services WHERE id = $1
           UNION ALL SELECT generation, until_ms, origin, definition FROM past_generations WHERE service_id = $1
           ORDER BY generation DESC`,
          [uuidOrNull(serviceId)],
        )
        return generationsOf(found)
      }),
    listOrigins: (orgId) =>
      read(function* () {
        const name = `${definitionJson('response')} ->> 'name'`
        const current = yield* rows<CurrentRow>(
          `SELECT id, ${name} AS name, origin FROM services WHERE org_id = $1
           ORDER BY lower(${name}) COLLATE "C", id`,
          [uuidOrNull(orgId)],
        )
        const services = current.map(({ id, name, origin }) => ({ id, name, origins: [originIn(origin)] }))
        // Only after a change by a person the earlier ones show who manages the service.
        const byPerson = services.filter(
          ({ origins: [newest] }) => newest != null && newest.personId !== null,
        )
        // Beside its definition, each past generation would have the database read all of it again.
        const past = yield* rows<{ serviceId: string; origin: string | null }>(
          `SELECT service_id AS "serviceId", origin FROM past_generations
           WHERE service_id IN (SELECT value::uuid FROM json_array_elements_text($1::json)) ORDER BY generation DESC`,
          [JSON.stringify(byPerson.map(({ id }) => id))],
        )
        const byId = new Map(byPerson.map((service) => [service.id, service]))
        for (const { serviceId, origin } of past) byId.get(serviceId)?.origins.push(originIn(origin))
        return services
      }),
  } satisfies Partial<ServiceStore>
}

/** The generations of a service from its rows, newest first. One without a definition has that of its successor. */
function generationsOf(found: readonly GenerationRow[]): readonly ServiceGeneration[] {
  let newer: string | null = null
  return found.map(({ generation, untilMs, origin, definition: stored }) => {
    // True because only rendered ServiceResponses are stored.
    const own = untilMs === null ? pastDefinition(JSON.parse(stored ?? '') as ServiceResponse) : stored
    newer = own ?? newer
    return { generation, untilMs, origin: originIn(origin), definition: newer }
  })
}

function originIn(text: string | null): ChangeOrigin | null {
  // True because only origins are stored.
  return text === null ? null : (JSON.parse(text) as ChangeOrigin)
}
