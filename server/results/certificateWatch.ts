import {
  type CertificateNotice,
  daysLeft,
  NOTICE_S_MAX,
  reachedThresholdS,
} from '../domain/certificateNotices.ts'
import type { ResultsDatabase } from './database/resultsDatabase.ts'
import { DAY_S } from './history/storedResult.ts'
import type { ServiceCertificate } from './measurements/measurements.ts'
import type { StateRows } from './stateRows.ts'

/** Observations before a certificate counts: a single one may come from a roll-out that is rolled back. */
const OBSERVATIONS_MIN = 2

interface CertificateRow extends Omit<ServiceCertificate, 'lastSeenS'> {
  readonly orgId: string
  /** The last threshold that was reported (seconds); `null` before the first. */
  readonly reportedS: number | null
}

/**
 * Prepares the watch of expiring certificates, called with the time (seconds since the epoch) in the caller's
 * transaction: writes a transition for each threshold that a certificate reached since the last call. It follows the
 * clock and not results, because the check of a host with an expired certificate reports no certificate.
 */
export function prepareCertificateWatch(
  database: ResultsDatabase,
  rows: Pick<StateRows, 'addTransition'>,
): (nowS: number) => void {
  const select = database.prepare<[number, number], CertificateRow>(
    `SELECT org_id AS "orgId", host, port, fingerprint, subject, issuer, serial, not_before_s AS "notBeforeS",
       not_after_s AS "notAfterS", chain_not_after_s AS "chainNotAfterS", reported_s AS "reportedS"
     FROM certificates
     WHERE sightings >= ${OBSERVATIONS_MIN} AND last_seen_s > ? AND chain_not_after_s <= ?
     ORDER BY org_id, host, port, fingerprint`,
  )
  const mark = database.prepare(
    `UPDATE certificates SET reported_s = @thresholdS
     WHERE org_id = @orgId AND host = @host AND port = @port AND fingerprint = @fingerprint`,
  )
  const endpoints = database.prepare<[string, string, number], { id: string; serviceId: string }>(
    `SELECT e.id, e.service_id AS "serviceId" FROM certificate_endpoints c JOIN endpoints e ON e.number = c.endpoint
     JOIN service_now s ON s.service_id = e.service_id
     WHERE c.org_id = ? AND c.host = ? AND c.port = ? ORDER BY e.number`,
  )
  return (nowS) => {
    for (const row of select.all(nowS - DAY_S, nowS + NOTICE_S_MAX)) {
      const thresholdS = reachedThresholdS(row, nowS)
      if (thresholdS === undefined || (row.reportedS !== null && row.reportedS <= thresholdS)) continue
      const { orgId, host, port, fingerprint, subject, issuer, serial, notBeforeS, chainNotAfterS } = row
      const concerned = endpoints.all(orgId, host, port)
      const [first] = concerned
      if (first === undefined) continue
      mark.run({ orgId, host, port, fingerprint, thresholdS })
      const body: CertificateNotice = {
        ...{ org_id: orgId, host, port, fingerprint, subject, issuer, serial },
        ...{ not_before_s: notBeforeS, not_after_s: chainNotAfterS },
        ...{ days_left: daysLeft(chainNotAfterS, nowS), threshold_s: thresholdS },
        endpoint_ids: concerned.map(({ id }) => id),
      }
      const { serviceId } = first
      rows.addTransition({ atS: nowS, serviceId, kind: 'certificate.expiring', body: JSON.stringify(body) })
    }
  }
}
