import { DAY_S } from '../history/storedResult.ts'
import type { ServiceCertificate } from './measurements.ts'
import type { Query, Sources } from './sources.ts'

/** See `Measurements.certificates`. */
// biome-ignore lint/correctness/useYield: one statement needs no slices; every query is a generator.
export function* readCertificates(
  { database, nowS }: Sources,
  { serviceId }: { readonly serviceId: string },
): Query<readonly ServiceCertificate[]> {
  return database
    .prepare<[string, number], ServiceCertificate>(
      `SELECT DISTINCT c.host, c.port, c.fingerprint, c.subject, c.issuer, c.serial, c.not_before_s AS "notBeforeS",
         c.not_after_s AS "notAfterS", c.chain_not_after_s AS "chainNotAfterS", c.last_seen_s AS "lastSeenS"
       FROM service_now s
       JOIN endpoints e ON e.service_id = s.service_id
       JOIN certificate_endpoints o ON o.endpoint = e.number
       JOIN certificates c ON c.org_id = o.org_id AND c.host = o.host AND c.port = o.port
       WHERE s.service_id = ? AND c.last_seen_s > ? ORDER BY c.host, c.port, c.fingerprint`,
    )
    .all(serviceId, nowS - DAY_S)
}
