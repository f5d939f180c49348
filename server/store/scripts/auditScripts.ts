import { type Actor, OPERATOR } from '../../domain/accounts/actor.ts'
import { type AuditedAction, auditRow } from '../shared/auditedAction.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import { run, type Script, type ScriptValue } from './script.ts'

const COLUMNS = 'at, actor_kind, actor, action, target_kind, target_id, detail'

function valuesOf(audited: AuditedAction): readonly ScriptValue[] {
  const { at, actorKind, actor, action, targetKind, targetId, detail } = auditRow(audited)
  return [at, actorKind, actor, action, targetKind, targetId, detail]
}

/** Adds `audited` to the audit log, in the transaction of the change. */
export function recordAction(audited: AuditedAction): Script<void> {
  const text = `INSERT INTO audit (org_id, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
  return run(text, [audited.orgId, ...valuesOf(audited)])
}

/** Adds an action on a person to the audit log of each organisation of that person. */
export function recordPersonAction(
  personId: string,
  audited: Omit<AuditedAction, 'orgId' | 'targetId'>,
): Script<void> {
  const text = `INSERT INTO audit (org_id, ${COLUMNS})
    SELECT org_id, $2, $3, $4, $5, $6, $7, $8 FROM memberships WHERE person_id = $1`
  return run(text, [uuidOrNull(personId), ...valuesOf({ ...audited, orgId: '', targetId: personId })])
}

/** Adds an action that concerns every organisation to the audit log of each. */
export function recordForAllOrgs(
  audited: Omit<AuditedAction, 'orgId' | 'by'>,
  by: Actor = OPERATOR,
): Script<void> {
  const text = `INSERT INTO audit (org_id, ${COLUMNS})
    SELECT id, $1, $2, $3, $4, $5, $6, $7 FROM orgs`
  return run(text, valuesOf({ ...audited, orgId: '', by }))
}
