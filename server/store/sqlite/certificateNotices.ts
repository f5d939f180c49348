import type { Database } from 'better-sqlite3'
import type { CertificateNotice } from '../../domain/certificateNotices.ts'

/** Stores a notice in the caller's transaction; `false` when this notice, or one of a later threshold, was given before. */
export type StoreCertificateNotice = (notice: CertificateNotice) => boolean

/** Prepares storing notices of expiring certificates. */
export function prepareCertificateNotices(writer: Database): StoreCertificateNotice {
  const known = writer.prepare<Omit<CertificateNotice, 'endpoint_ids'>>(
    `SELECT 1 FROM certificate_notices WHERE org_id = @org_id AND host = @host AND port = @port
       AND fingerprint = @fingerprint AND threshold_s <= @threshold_s LIMIT 1`,
  )
  const insert = writer.prepare(
    `INSERT INTO certificate_notices (org_id, host, port, fingerprint, threshold_s, not_after_s)
     VALUES (@org_id, @host, @port, @fingerprint, @threshold_s, @not_after_s)`,
  )
  return (notice) => {
    const { endpoint_ids: _, ...columns } = notice
    if (known.get(columns) !== undefined) return false
    insert.run(columns)
    return true
  }
}
