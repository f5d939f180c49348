/** Selects a Caller by the hash of its key, `$1`. */
export const SELECT_CALLER = `
  SELECT k.id AS "keyId", k.last4 AS "keyLast4", k.scope, o.id AS "orgId", o.name AS "orgName", o.plan,
    p.has_api_access AS "hasApiAccess"
  FROM api_keys k JOIN orgs o ON o.id = k.org_id JOIN plans p ON p.name = o.plan
  WHERE k.key_hash = $1 AND k.revoked_at IS NULL`
