import { type Html, html } from '../../web/html.ts'
import { countText, OUTCOME_LABELS, TRIGGER_LABELS } from '../controller/status/labels.ts'
import type { ControllerStatus, RunStatus, SetStatus } from '../controller/status/status.ts'
import { shortened } from '../text/counts.ts'
import { MESSAGE_CHARS_MAX, NAME_CHARS_MAX } from './bounds.ts'
import { commitUrl } from './forgeUrls.ts'
import { timeElement } from './time.ts'

/** The source and the API of a set, its commits, its runs, and its leader. Pure. */
export function setFacts(set: SetStatus, { at }: Pick<ControllerStatus, 'at'>): Html {
  const { source, apiUrl } = set
  const environment = source.environment === null ? '' : `, environment ${source.environment}`
  return html`<dl class="facts">
${fact('From', html`<bdi>${address(source.repository)}</bdi><br><span class="quiet">branch ${name(source.branch)}, ${source.path === '.' ? 'all of it' : `folder ${name(source.path)}`}${name(environment)}</span>`)}
${fact('To', html`<bdi>${address(apiUrl)}</bdi>`)}
${set.role !== 'follower' && progress(set, at)}
${fact('Leader', html`${ROLE_LABELS[set.role]}${set.leaseHolder !== null && html`<br><bdi class="quiet">${name(set.leaseHolder)}</bdi>`}`)}
${fact('Window', html`${set.window.isOpen ? 'open' : 'closed'}${set.window.reason !== '' && `: ${shortened(set.window.reason, MESSAGE_CHARS_MAX)}`}${set.window.changesAt !== null && html`, changes ${timeElement(set.window.changesAt, at)} (${timeElement(set.window.changesAt, at, 'absolute')})`}`)}
${set.unverifiableSecrets > 0 && fact('Secrets', html`${countText(set.unverifiableSecrets)} cannot be checked<br><span class="quiet">the API marks several secrets alike, so that a change of one by hand cannot be seen</span>`)}
</dl>`
}

/** What only the leader knows. */
function progress(set: SetStatus, at: string): Html {
  return html`${fact('Newest commit', newestCommit(set, at))}
${fact('Applied', appliedTime(set))}
${set.running === null ? fact('Last run', lastRun(set.lastRun, at)) : fact('Running', running(set.running, at))}
${fact('Next run', set.nextRunAt === null ? (set.running === null ? 'not planned' : 'after this one') : html`${timeElement(set.nextRunAt, at)}, or when something is pushed`)}`
}

const ROLE_LABELS: Readonly<Record<SetStatus['role'], string>> = {
  leader: 'this replica',
  follower: 'another replica',
  starting: 'not settled yet',
}

function fact(term: string, description: Html | string): Html {
  return html`<div><dt>${term}</dt><dd>${description}</dd></div>`
}

function name(text: string): string {
  return shortened(text, NAME_CHARS_MAX)
}

/** An address that may wrap between its parts. */
function address(text: string): Html {
  return html`${name(text)
    .split(/(?<=[^/:]\/)/)
    .map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}`
}

/** The abbreviated SHA, with the full SHA in its title. Pure. */
export function shortSha(sha: string): Html {
  return html`<code title="${shortened(sha, NAME_CHARS_MAX)}">${sha.slice(0, 10)}</code>`
}

function newestCommit({ commit, source }: SetStatus, at: string): Html | string {
  if (commit === null) return 'none read yet'
  const url = commitUrl(source.repository, commit.sha)
  const sha = shortSha(commit.sha)
  return html`${url === null ? sha : html`<a href="${url}" rel="noreferrer">${sha}</a>`} <bdi>${name(commit.subject)}</bdi><br><span class="quiet"><bdi>${name(commit.author)}</bdi>, ${timeElement(commit.at, at)}</span>`
}

function appliedTime({ commit, appliedCommit }: SetStatus): Html | string {
  if (appliedCommit === null) return 'no commit since this program started'
  return appliedCommit === commit?.sha ? 'the newest commit, whole' : shortSha(appliedCommit)
}

function lastRun(run: RunStatus | null, at: string): Html | string {
  if (run === null) return 'none since this program started'
  const counts = Object.entries(run.counts).flatMap(([word, count]) =>
    count === 0 ? [] : [`${countText(count)} ${word}`],
  )
  return html`${timeElement(run.finishedAt, at)} ${TRIGGER_LABELS[run.trigger]}: ${OUTCOME_LABELS[run.outcome]}<br><span class="quiet">${[...counts, `${countText(run.requests)} ${run.requests === 1 ? 'request' : 'requests'}`].join(', ')}</span>`
}

function running(run: NonNullable<SetStatus['running']>, at: string): Html {
  const progress = run.total === 0 ? '' : `, ${countText(run.done)} of ${countText(run.total)} changes`
  return html`${run.phase}${progress}<br><span class="quiet">since ${timeElement(run.startedAt, at)}, ${TRIGGER_LABELS[run.trigger]}</span>`
}
